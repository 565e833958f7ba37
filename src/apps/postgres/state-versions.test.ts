// Processes that change the state of a user at the same time as another one deletes the user.
import { Pool, type PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { query, rowOf, rowsOf, type SqlWork } from '../../services/sql/sql.ts'
import { StateVersionRows } from '../../services/sql/state-versions.ts'
import { newSchema, openDatabase, runSql, serverUrl } from './database.test-kit.ts'
import type { PostgresDatabase } from './database.ts'

const versions = new StateVersionRows({ forUpdate: ' FOR UPDATE' })

/** What a process of the version before does. */
const ADVANCE_BEFORE = query(
  `INSERT INTO toolwright_state_versions AS known (app, "user", version) VALUES (?, ?, 1)
   ON CONFLICT (app, "user") DO UPDATE SET version = known.version + 1 RETURNING version`,
)

const STEPS = {
  change: () => versions.advance('shop', 'ada'),
  'first change': () => versions.advance('shop', 'ada'),
  'change of the version before': function* (): SqlWork<number> {
    return Number((yield* rowOf(ADVANCE_BEFORE, 'shop', 'ada'))?.version)
  },
  deletion: () => versions.remove('shop', 'ada'),
}
type Step = keyof typeof STEPS

const HOLD = query('SELECT pg_advisory_xact_lock(hashtext(?))')

/** A lock of the test: a transaction that asks for it waits until it is released. */
async function heldLock(name: string): Promise<PoolClient> {
  const pool = new Pool({ connectionString: serverUrl(), max: 1 })
  const client = await pool.connect()
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
  onTestFinished(async () => {
    client.release(true)
    await pool.end()
  })
  return client
}

/** How many transactions wait for a lock, in the schema of a test. */
async function waiting(schema: string, where: string): Promise<number> {
  const [row] = await runSql(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE wait_event_type = 'Lock' AND ${where} AND pid IN (
       SELECT pid FROM pg_locks JOIN pg_class ON pg_class.oid = relation
       WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schema}'))`,
  )
  return Number(row?.count)
}

/** Two steps of two processes: the second one begins while the first one is done, but not committed. */
async function overlapped(schema: string, [first, second]: readonly [Step, Step]): Promise<[number, number]> {
  const [one, other] = [openDatabase({ schema }), openDatabase({ schema })]
  const lock = await heldLock(schema)
  const ended = one.write(function* () {
    const version = yield* STEPS[first]()
    yield* rowsOf(HOLD, schema)
    return version
  })
  await expect.poll(() => waiting(schema, "wait_event = 'advisory'"), { timeout: 20_000 }).toBe(1)
  const after = other.write(() => STEPS[second]())
  await expect.poll(() => waiting(schema, "wait_event <> 'advisory'"), { timeout: 20_000 }).toBe(1)
  await lock.query('SELECT pg_advisory_unlock(hashtext($1))', [schema])
  return [await ended, await after]
}

async function withVersions(count: number): Promise<{ readonly schema: string; readonly database: PostgresDatabase }> {
  const schema = newSchema()
  const database = openDatabase({ schema })
  await database.ready()
  for (let version = 1; version <= count; version++) await database.write(STEPS.change)
  return { schema, database }
}

test.each([
  ['change', 'deletion'],
  ['deletion', 'change'],
  ['deletion', 'change of the version before'],
  ['change of the version before', 'deletion'],
  ['deletion', 'deletion'],
] as const)('a %s of a user and a %s at the same time give no version twice', async (first, second) => {
  const { schema, database } = await withVersions(3)
  const [before, after] = await overlapped(schema, [first, second])
  expect([before, after]).toEqual(second === first ? [4, 4] : [4, 5])
  expect(await database.write(STEPS.change)).toBe(after + 1)
})

test.each([
  ['first change', 'deletion'],
  ['deletion', 'first change'],
  ['deletion', 'change of the version before'],
] as const)('a %s of a user without state and a %s at the same time give no version twice', async (first, second) => {
  const { schema, database } = await withVersions(0)
  const [before, after] = await overlapped(schema, [first, second])
  expect(after).toBeGreaterThan(before)
  expect(await database.write(STEPS.change)).toBeGreaterThan(after)
})
