// What is in the tables and in their files after a session and a user were deleted.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { around, fillStore, SESSION_CANARIES, USER_CANARIES } from '../sqlite/canary-user.test-kit.ts'
import { newSchema, runSql, serverUrl } from './database.test-kit.ts'
import { postgres } from './postgres.ts'

function open(schema: string): ReturnType<typeof postgres> {
  const services = postgres(serverUrl(), { schema, encryptionKeys: [Buffer.alloc(32).toString('base64')] })
  onTestFinished(() => services.close())
  return services
}

/** The tables of a schema, with their names for statements. */
async function tablesIn(schema: string): Promise<string[]> {
  const tables = await runSql(`SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}'`)
  expect(tables.length).toBeGreaterThan(15)
  return tables.map(({ name }) => `"${schema}"."${name}"`)
}

/** All values of all tables, the bytes of artifacts as text. */
async function dump(schema: string): Promise<string> {
  const selects = (await tablesIn(schema)).map((name) => `SELECT to_jsonb(t)::text AS text FROM ${name} AS t`)
  const bytes = `SELECT encode(bytes, 'escape') FROM "${schema}".toolwright_artifacts`
  const rows = await runSql([...selects, bytes].join(' UNION ALL '))
  return rows.map(({ text }) => String(text)).join('\n')
}

/** Empties free space, as an operator does who cannot wait for it, and reads the files of tables and indexes. */
async function vacuumedFiles(schema: string): Promise<string> {
  await runSql(`VACUUM (FULL, ANALYZE) ${(await tablesIn(schema)).join(', ')}`)
  await runSql('CHECKPOINT')
  const files = await runSql(
    `WITH own AS (SELECT * FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}'))
     SELECT pg_relation_filepath(oid) AS path, current_setting('data_directory') AS folder FROM pg_class
     WHERE pg_relation_filepath(oid) IS NOT NULL AND oid IN (SELECT oid FROM own UNION SELECT reltoastrelid FROM own)`,
  )
  expect(files.length).toBeGreaterThan(40)
  return files.map(({ folder, path }) => readFileSync(join(String(folder), String(path)), 'latin1')).join('\n')
}

/** What the statistics of the planner have of the values of columns. */
async function statistics(schema: string): Promise<string> {
  const rows = await runSql(
    `SELECT concat_ws(' ', most_common_vals::text, histogram_bounds::text) AS text FROM pg_stats WHERE schemaname = '${schema}'`,
  )
  return rows.map(({ text }) => String(text)).join('\n')
}

test('a deleted session, and then its deleted user, are in no row, file or statistic of the schema; others are', {
  timeout: 60_000,
}, async () => {
  const schema = newSchema()
  const runner = await fillStore(open(schema), 'canaryuser', 'canarytalk')
  await fillStore(open(schema), 'otheruser', 'othertalk')
  const before = await dump(schema)
  for (const kind of SESSION_CANARIES) expect(before).toContain(`canarytalk${kind}`)
  await runner.deleteSession({ userId: 'canaryuser', sessionId: 'canarytalk' })
  const between = await dump(schema)
  expect(around(between, 'canarytalk')).toEqual([])
  for (const kind of USER_CANARIES) expect(between).toContain(`canaryuser${kind}`)
  await runner.deleteUser({ userId: 'canaryuser' })
  const after = await dump(schema)
  expect(around(after, 'canary')).toEqual([])
  for (const kind of SESSION_CANARIES) expect(after).toContain(`othertalk${kind}`)
  for (const kind of USER_CANARIES) expect(after).toContain(`otheruser${kind}`)
  const files = await vacuumedFiles(schema)
  expect(around(files, 'canary')).toEqual([])
  expect(files).toContain('otherusername')
  expect(around(await statistics(schema), 'canary')).toEqual([])
})
