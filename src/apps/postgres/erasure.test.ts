// What is in the tables and in their files after a session and a user were deleted.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { around, fillStore, SESSION_CANARIES, USER_CANARIES } from '../sqlite/canary-user.test-kit.ts'
import { newSchema, runSql, serverUrl } from './database.test-kit.ts'
import { postgres } from './postgres.ts'

interface Place {
  /** The database. */
  readonly url: string
  readonly schema: string
}

/** A database of its own: rows that an open transaction of another test may still read would stay in the files. */
async function newDatabase(): Promise<string> {
  const name = newSchema()
  await runSql(`CREATE DATABASE "${name}"`)
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  return url.href
}

function open({ url, schema }: Place): ReturnType<typeof postgres> {
  const services = postgres(url, { schema, encryptionKeys: [Buffer.alloc(32).toString('base64')] })
  onTestFinished(() => services.close())
  return services
}

/** The tables of a schema, with their names for statements. */
async function tablesIn({ url, schema }: Place): Promise<string[]> {
  const tables = await runSql(`SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}'`, url)
  expect(tables.length).toBeGreaterThan(15)
  return tables.map(({ name }) => `"${schema}"."${name}"`)
}

/** All values of all tables, the bytes of artifacts as text. */
async function dump(place: Place): Promise<string> {
  const selects = (await tablesIn(place)).map((name) => `SELECT to_jsonb(t)::text AS text FROM ${name} AS t`)
  const bytes = `SELECT encode(bytes, 'escape') FROM "${place.schema}".toolwright_artifacts`
  const rows = await runSql([...selects, bytes].join(' UNION ALL '), place.url)
  return rows.map(({ text }) => String(text)).join('\n')
}

/** Empties free space, as an operator does who cannot wait for it, and reads the files of tables and indexes. */
async function vacuumedFiles(place: Place): Promise<string> {
  const { url, schema } = place
  await runSql(`VACUUM (FULL, ANALYZE) ${(await tablesIn(place)).join(', ')}`, url)
  await runSql('CHECKPOINT', url)
  const files = await runSql(
    `WITH own AS (SELECT * FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}'))
     SELECT pg_relation_filepath(oid) AS path, current_setting('data_directory') AS folder FROM pg_class
     WHERE pg_relation_filepath(oid) IS NOT NULL AND oid IN (SELECT oid FROM own UNION SELECT reltoastrelid FROM own)`,
    url,
  )
  expect(files.length).toBeGreaterThan(40)
  return files.map(({ folder, path }) => readFileSync(join(String(folder), String(path)), 'latin1')).join('\n')
}

/** What the statistics of the planner have of the values of columns. */
async function statistics({ url, schema }: Place): Promise<string> {
  const rows = await runSql(
    `SELECT concat_ws(' ', most_common_vals::text, histogram_bounds::text) AS text FROM pg_stats WHERE schemaname = '${schema}'`,
    url,
  )
  return rows.map(({ text }) => String(text)).join('\n')
}

test('a deleted session, and then its deleted user, are in no row, file or statistic of the schema; others are', {
  timeout: 60_000,
}, async () => {
  const place = { url: await newDatabase(), schema: newSchema() }
  const runner = await fillStore(open(place), 'canaryuser', 'canarytalk')
  await fillStore(open(place), 'otheruser', 'othertalk')
  const before = await dump(place)
  for (const kind of SESSION_CANARIES) expect(before).toContain(`canarytalk${kind}`)
  await runner.deleteSession({ userId: 'canaryuser', sessionId: 'canarytalk' })
  const between = await dump(place)
  expect(around(between, 'canarytalk')).toEqual([])
  for (const kind of USER_CANARIES) expect(between).toContain(`canaryuser${kind}`)
  await runner.deleteUser({ userId: 'canaryuser' })
  const after = await dump(place)
  expect(around(after, 'canary')).toEqual([])
  for (const kind of SESSION_CANARIES) expect(after).toContain(`othertalk${kind}`)
  for (const kind of USER_CANARIES) expect(after).toContain(`otheruser${kind}`)
  const files = await vacuumedFiles(place)
  expect(around(files, 'canary')).toEqual([])
  expect(files).toContain('otherusername')
  expect(around(await statistics(place), 'canary')).toEqual([])
})
