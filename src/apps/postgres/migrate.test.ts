import { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { changesOf, type SqlRow } from '../../services/sql/sql.ts'
import { newSchema, openDatabase, pins, runSql, serverUrl } from './database.test-kit.ts'
import { migrate } from './migrate.ts'
import { postgres } from './postgres.ts'
import { MIGRATIONS, type Migration } from './schema.ts'
import { sendTogether } from './send-together.ts'

/** A migration of a later version that adds a column. */
const next: Migration = {
  statements: ['ALTER TABLE toolwright_pins ADD COLUMN note TEXT', "UPDATE toolwright_pins SET note = 'migrated'"],
  worksFrom: MIGRATIONS.length,
}

async function migrateTo(
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
  url = serverUrl(),
): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {})
  const client = await pool.connect()
  client.on('error', () => {})
  try {
    await migrate((statements) => sendTogether(client, statements, { timeoutMs: 10_000 }), {
      schema,
      place: '"test"',
      migrations,
    })
  } finally {
    client.release(true)
    await pool.end()
  }
}

function tablesIn(schema: string): Promise<SqlRow[]> {
  return runSql(
    `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = '${schema}' ORDER BY 1, 2`,
  )
}

/** The same migration, in which the connection is killed instead of one statement. */
function killedAt(migration: Migration, index: number): Migration {
  return { ...migration, statements: migration.statements.with(index, 'SELECT pg_terminate_backend(pg_backend_pid())') }
}

test('a migration that is killed at any statement leaves nothing, and the next process does it', {
  timeout: 60_000,
}, async () => {
  const schema = newSchema()
  const [first] = MIGRATIONS
  for (const index of (first as Migration).statements.keys()) {
    await expect(migrateTo(schema, [killedAt(first as Migration, index)])).rejects.toThrow()
    expect(await tablesIn(schema)).toEqual([])
  }
  await migrateTo(schema)
  expect(await tablesIn(schema)).not.toEqual([])
})

test('a later migration that is killed leaves the tables and the rows as they were', async () => {
  const schema = newSchema()
  const database = openDatabase({ schema })
  await database.write(() => changesOf(pins.add, 'kept', 'x'))
  const before = await tablesIn(schema)
  for (const index of next.statements.keys()) {
    await expect(migrateTo(schema, [...MIGRATIONS, killedAt(next, index)])).rejects.toThrow()
    expect(await tablesIn(schema)).toEqual(before)
  }
  expect(await database.readOne(pins.names)).toEqual([{ name: 'kept' }])
})

test('many processes that start at once create the tables once', async () => {
  const schema = newSchema()
  const databases = Array.from({ length: 8 }, () => openDatabase({ schema }))
  await Promise.all(databases.map((database, index) => database.write(() => changesOf(pins.add, `${index}`, 'x'))))
  expect(await databases[0]?.readOne(pins.names)).toHaveLength(8)
})

test('processes of the version before work on after a migration, and can start', async () => {
  const schema = newSchema()
  const running = openDatabase({ schema })
  await running.write(() => changesOf(pins.add, 'before', 'x'))
  await migrateTo(schema, [...MIGRATIONS, next])
  await running.write(() => changesOf(pins.add, 'after', 'x'))
  const started = openDatabase({ schema })
  expect(await started.readOne(pins.names)).toEqual([{ name: 'after' }, { name: 'before' }])
  expect(await runSql(`SELECT value FROM "${schema}".toolwright_meta WHERE name = 'schema'`)).toEqual([
    { value: String(MIGRATIONS.length + 1) },
  ])
})

test('tables of version 2 open, and lose the ids of users who were deleted before', async () => {
  const schema = newSchema()
  await migrateTo(schema, MIGRATIONS.slice(0, 2))
  await runSql(
    `INSERT INTO "${schema}".toolwright_state_versions (app, "user", version) VALUES ('shop', 'gone', 7), ('shop', 'ada', 2), ('shop', '', 3);
     INSERT INTO "${schema}".toolwright_state (app, "user", session, key, value) VALUES ('shop', 'ada', 0, 'user:name', '"Ada"')`,
  )
  const services = postgres(serverUrl(), { schema })
  onTestFinished(() => services.close())
  const user = { appName: 'shop', userId: 'ada' }
  expect(await services.sessionService.userState?.(user)).toEqual({ 'user:name': 'Ada' })
  const versions = `SELECT "user", version::int FROM "${schema}".toolwright_state_versions ORDER BY 1`
  expect(await runSql(versions)).toEqual([
    { user: '', version: 3 },
    { user: 'ada', version: 2 },
  ])
  await services.sessionService.createSession({ appName: 'shop', userId: 'gone', state: { 'user:name': 'Eve' } })
  expect((await runSql(versions)).at(-1)).toEqual({ user: 'gone', version: 9 })
})

test('tables of a newer Toolwright that this one cannot work with are refused', async () => {
  const schema = newSchema()
  const later = { ...next, worksFrom: MIGRATIONS.length + 1 }
  await migrateTo(schema, [...MIGRATIONS, later])
  await expect(openDatabase({ schema }).ready()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining(`was written by a newer Toolwright (schema version ${MIGRATIONS.length + 1}`),
  })
})

test('a schema with tables of somebody else is refused and not changed', async () => {
  const schema = newSchema()
  await runSql(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".orders (id int)`)
  await expect(openDatabase({ schema }).ready()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('has tables of others. Pass the name of another schema'),
  })
  expect(await tablesIn(schema)).toEqual([{ table_name: 'orders', column_name: 'id' }])
})

test('a schema without a version, and missing tables, are errors that say what to do', async () => {
  const schema = newSchema()
  await migrateTo(schema)
  const database = openDatabase({ schema })
  await database.ready()
  await runSql(`DROP TABLE "${schema}".toolwright_pins`)
  await expect(database.readOne(pins.names)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('has no valid tables'),
  })
  await runSql(`DELETE FROM "${schema}".toolwright_meta`)
  await expect(openDatabase({ schema }).ready()).rejects.toThrow('has no valid version')
})

test('a database that is not UTF8 is refused', async () => {
  const name = newSchema()
  await runSql(`CREATE DATABASE "${name}" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  const services = postgres(url)
  onTestFinished(() => services.close())
  await expect(services.ready()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('has the encoding LATIN1'),
  })
})

test('a role that may neither create schemas nor tables works with tables that are there', async () => {
  const schema = newSchema()
  const role = `role_${schema.slice(5, 13)}`
  await migrateTo(schema)
  await runSql(`CREATE ROLE "${role}" LOGIN; REVOKE CREATE ON DATABASE postgres FROM PUBLIC`)
  const url = new URL(serverUrl())
  url.username = role
  const services = postgres(url, { schema })
  onTestFinished(() => services.close())
  await expect(services.ready()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('GRANT the role USAGE on the schema'),
  })
  await runSql(
    `GRANT USAGE ON SCHEMA "${schema}" TO "${role}"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO "${role}";
     GRANT USAGE ON ALL SEQUENCES IN SCHEMA "${schema}" TO "${role}"`,
  )
  const { sessionService } = services
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  await sessionService.createSession({ ...key, state: { 'user:name': 'Ada' } })
  const lease = await sessionService.claim(key)
  await sessionService.append(lease, 0, [{ record: { type: 'intent', invocationId: 'i', path: 'desk', calls: [] } }])
  expect(await sessionService.getSession(key)).toMatchObject({ state: { 'user:name': 'Ada' } })
  await runSql(`REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" FROM "${role}"`)
  await expect(sessionService.createSession({ appName: 'shop', userId: 'ada' })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('denies access'),
  })
  expect(await sessionService.getSession(key)).toMatchObject({ id: 's1' })
})

test('two stores with schemas of their own share nothing', async () => {
  const [one, other] = [emptyStore(), emptyStore()]
  await one.sessionService.createSession({ appName: 'shop', userId: 'ada', sessionId: 's1' })
  expect(await other.sessionService.listSessions({ appName: 'shop', userId: 'ada' })).toEqual([])
})
