import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { ToolwrightError } from '../../core/error/error.ts'
import { changesOf, query, rowOf, rowsOf } from '../../services/sql/sql.ts'
import { newSchema, openDatabase, pins, runSql, serverUrl } from './database.test-kit.ts'

test('a transaction writes all or nothing', async () => {
  const database = openDatabase()
  await database.write(function* () {
    yield* changesOf(pins.add, 'kept', 'x')
  })
  const failing = database.write(function* () {
    yield* changesOf(pins.add, 'undone', 'x')
    throw new ToolwrightError('SESSION_BUSY', 'busy')
  })
  await expect(failing).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  expect(await database.readOne(pins.names)).toEqual([{ name: 'kept' }])
})

test('a statement that fails undoes those before it, and the connection is used again', async () => {
  const database = openDatabase({ source: { connectionString: serverUrl(), max: 1 } })
  const failing = database.write(function* () {
    yield* changesOf(pins.add, 'a', 'x')
    yield* changesOf(pins.add, 'a', 'x')
  })
  await expect(failing).rejects.toMatchObject({ code: 'STORAGE' })
  expect(await database.readOne(pins.names)).toEqual([])
})

test('a first statement that fails leaves no transaction behind', async () => {
  const database = openDatabase({ source: { connectionString: serverUrl(), max: 1 } })
  const failing = database.write(function* () {
    yield* rowsOf(query('SELECT 1 / 0'))
  })
  await expect(failing).rejects.toThrow('division by zero')
  const status = await database.readOne(
    query(
      "SELECT count(*) AS open FROM pg_stat_activity WHERE state = 'idle in transaction (aborted)' AND pid = pg_backend_pid()",
    ),
  )
  expect(status).toEqual([{ open: 0 }])
})

test('a read sees one snapshot, also of what is written meanwhile', async () => {
  const database = openDatabase()
  await database.ready()
  let written: Promise<unknown> = Promise.resolve()
  const [before, after] = await database.read(function* () {
    const before = yield* rowsOf(pins.names)
    written = database.write(function* () {
      yield* changesOf(pins.add, 'new', 'x')
    })
    // a statement that takes longer than the other transaction
    yield* rowsOf(query('SELECT pg_sleep(0.2)'))
    return [before, yield* rowsOf(pins.names)]
  })
  await written
  expect(after).toEqual(before)
  expect(await database.readOne(pins.names)).toEqual([{ name: 'new' }])
})

test('a read cannot write', async () => {
  const database = openDatabase({ awayMs: 0 })
  const reading = database.read(function* () {
    yield* changesOf(pins.add, 'a', 'x')
  })
  await expect(reading).rejects.toMatchObject({ code: 'STORAGE', message: expect.stringContaining('read-only') })
})

test('numbers, bytes, text and nothing come back as they were', async () => {
  const database = openDatabase()
  const statement = query(
    `SELECT CAST(? AS bigint) AS big, CAST(? AS double precision) AS float, CAST(? AS bytea) AS bytes, CAST(? AS text) AS text,
       CAST(? AS text) AS none, '?' AS "a ?", count(*) AS count, sum(n) AS sum FROM generate_series(1, 3) AS n`,
  )
  const bytes = Uint8Array.from([0, 1, 92, 255])
  const [row] = await database.readOne(statement, Number.MAX_SAFE_INTEGER, 0.1, bytes, 'é ? $1 \\', null)
  expect(row).toEqual({
    big: Number.MAX_SAFE_INTEGER,
    float: 0.1,
    bytes,
    text: 'é ? $1 \\',
    none: null,
    'a ?': '?',
    count: 3,
    sum: 6,
  })
})

test('two writers that lock rows in opposite orders both end', async () => {
  const database = openDatabase()
  await database.write(function* () {
    for (const name of ['a', 'b']) yield* changesOf(pins.add, name, '0')
  })
  const addOneTo = (names: readonly string[]): Promise<void> =>
    database.write(function* () {
      for (const name of names) {
        const row = yield* rowOf(pins.lock, name)
        yield* rowsOf(query('SELECT pg_sleep(0.05)'))
        yield* changesOf(pins.change, String(Number(row?.hash) + 1), name)
      }
    })
  await Promise.all([addOneTo(['a', 'b']), addOneTo(['b', 'a']), addOneTo(['a', 'b']), addOneTo(['b', 'a'])])
  expect(await database.readOne(query('SELECT hash FROM toolwright_pins ORDER BY name'))).toEqual([
    { hash: '4' },
    { hash: '4' },
  ])
})

test('a statement that takes too long is cut off, and says what to do', async () => {
  const database = openDatabase({ statementTimeoutMs: 200 })
  const sleeping = database.readOne(query('SELECT pg_sleep(60)'))
  await expect(sleeping).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('statementTimeoutMs'),
  })
})

test('a pool of the user stays open, keeps its settings, and works with any options of its own', async () => {
  for (const options of [
    {},
    { pipeline: true },
    { options: '-c default_transaction_isolation=serializable -c search_path=x' },
  ]) {
    const pool = new Pool({ connectionString: serverUrl(), max: 1, ...options })
    const database = openDatabase({ source: pool })
    await database.write(function* () {
      yield* changesOf(pins.add, 'a', 'x')
    })
    expect(await database.readOne(pins.names)).toEqual([{ name: 'a' }])
    await database.close()
    const { rows } = await pool.query(
      `SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout`,
    )
    expect(rows).toEqual([{ path: 'options' in options ? 'x' : '"$user", public', timeout: '0' }])
    expect((await pool.query('SELECT count(*) AS n FROM pg_class LIMIT 1')).rows[0]).toEqual({ n: expect.any(String) })
    await pool.end()
  }
})

test('a full pool is an error that names it, after some seconds', async () => {
  const pool = new Pool({ connectionString: serverUrl(), max: 1, connectionTimeoutMillis: 100 })
  const client = await pool.connect()
  const database = openDatabase({ source: pool, awayMs: 200 })
  await expect(database.readOne(pins.names)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('no free connection'),
  })
  client.release()
  expect(await database.readOne(pins.names)).toEqual([])
  await pool.end()
})

test('a closed database says so, and ends what waits', async () => {
  const pool = new Pool({ connectionString: 'postgres://postgres@127.0.0.1:1/postgres' })
  const database = openDatabase({ source: pool })
  const waiting = database.readOne(pins.names)
  await database.close()
  await expect(waiting).rejects.toThrow('was closed. Open it again with postgres().')
  await expect(database.ready()).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('was closed'),
  })
})

test('schemas with any name are apart', async () => {
  const names = ['we"ird', `${newSchema()}; DROP SCHEMA x`, 'Groß', "it's"].map((name) =>
    `${name}${newSchema()}`.slice(0, 60),
  )
  for (const schema of names) {
    const database = openDatabase({ schema })
    await database.write(function* () {
      yield* changesOf(pins.add, schema, 'x')
    })
  }
  for (const schema of names) {
    expect(await openDatabase({ schema }).readOne(pins.names)).toEqual([{ name: schema }])
    await runSql(`DROP SCHEMA "${schema.replaceAll('"', '""')}" CASCADE`)
  }
})
