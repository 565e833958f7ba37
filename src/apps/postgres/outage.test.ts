// What happens to transactions while the server, the network or the connection fails.
import { expect, test } from 'vitest'
import { startServer } from '../../../test/postgres/server.ts'
import { changesOf, query, rowOf } from '../../services/sql/sql.ts'
import { openDatabase, pins, serverUrl } from './database.test-kit.ts'
import type { PostgresDatabase } from './database.ts'
import { transactionPooler } from './pooler.test-kit.ts'
import { faultyProxy } from './proxy.test-kit.ts'

const TWICE = "INSERT INTO toolwright_pins (app, name, hash) SELECT 'test', ? || count(*), 'x' FROM toolwright_pins"
/** Not idempotent: each run of it adds a row with another name. */
const append = { sql: TWICE, returns: 'changes' } as const

function add(database: PostgresDatabase, name: string): Promise<number> {
  return database.write(() => changesOf(append, name))
}

async function namesIn(database: PostgresDatabase): Promise<unknown[]> {
  return (await database.readOne(pins.names)).map(({ name }) => name)
}

test('a write whose connection is lost before the commit is repeated', async () => {
  const proxy = await faultyProxy(serverUrl())
  const database = openDatabase({ source: { connectionString: proxy.url } })
  await database.ready()
  proxy.nextCommit = 'cut before'
  expect(await add(database, 'a')).toBe(1)
  expect(await namesIn(database)).toEqual(['a0'])
  expect(proxy.nextCommit).toBe('none')
})

test.each(['cut after', 'hang after'] as const)(
  'a write is stored once if the connection is lost after the commit (%s)',
  async (fault) => {
    const proxy = await faultyProxy(serverUrl())
    const database = openDatabase({ source: { connectionString: proxy.url }, statementTimeoutMs: 200 })
    await database.ready()
    proxy.nextCommit = fault
    expect(await add(database, 'a')).toBe(1)
    expect(await namesIn(database)).toEqual(['a0'])
    expect(proxy.nextCommit).toBe('none')
  },
)

test('a network that is gone ends in an error, not in a promise that hangs', async () => {
  const proxy = await faultyProxy(serverUrl())
  const database = openDatabase({ source: { connectionString: proxy.url }, statementTimeoutMs: 100, awayMs: 0 })
  await database.ready()
  proxy.isSilent = true
  await expect(add(database, 'a')).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining('did not answer in time'),
  })
  proxy.isSilent = false
  expect(await namesIn(database)).toEqual([])
})

test('a server that is away is an error that says how to reach it', async () => {
  const database = openDatabase({ source: { connectionString: 'postgres://ada:geheim@127.0.0.1:1/shop' }, awayMs: 100 })
  const error = await add(database, 'a').catch((error: unknown) => error)
  expect(error).toMatchObject({ code: 'STORAGE', message: expect.stringContaining('nothing listens at this address') })
  expect(String((error as Error).stack)).not.toContain('geheim')
})

test('the holder of a session waits for a server that is away, others give up', async () => {
  await using server = await startServer()
  const [holder, other] = [0, 1].map(() =>
    openDatabase({ source: { connectionString: server.url }, schema: 'shared', awayMs: 100 }),
  )
  if (!holder || !other) throw new Error('no databases')
  await holder.ready()
  await server.send('stop immediately')
  const waiting = holder.write(
    () => changesOf(append, 'held'),
    function* () {
      return (yield* rowOf(query('SELECT 1 AS one'))) !== undefined
    },
  )
  await expect(add(other, 'other')).rejects.toMatchObject({ code: 'STORAGE' })
  await server.send('start')
  expect(await waiting).toBe(1)
  expect(await namesIn(holder)).toEqual(['held0'])
})

test('nothing is lost or doubled while the server is killed and stopped under load', { timeout: 60_000 }, async () => {
  await using server = await startServer()
  const database = openDatabase({ source: { connectionString: server.url, max: 20 }, awayMs: 20_000 })
  await database.ready()
  let isOver = false
  const acknowledged: string[] = []
  const unknown: string[] = []
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    for (let attempt = 0; !isOver; attempt++) {
      // each name is written once, so that a name that is stored twice is an error
      const name = `${writer}-${attempt}`
      try {
        await database.write(() => changesOf(pins.add, name, 'x'))
        acknowledged.push(name)
      } catch (error) {
        expect(error).toMatchObject({ code: 'STORAGE', message: expect.stringContaining('may have been stored') })
        unknown.push(name)
      }
    }
  })
  for (const command of ['kill', 'stop immediately', 'kill', 'stop', 'kill'] as const) {
    const before = acknowledged.length
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 50)
    await server.send(command)
    await server.send('start')
  }
  isOver = true
  await Promise.all(writers)
  const stored = new Set(await namesIn(database))
  expect(acknowledged.filter((name) => !stored.has(name))).toEqual([])
  expect([...stored].filter((name) => !acknowledged.includes(String(name)) && !unknown.includes(String(name)))).toEqual(
    [],
  )
})

test('a holder whose commit was lost in a crash of the server stores it once', async () => {
  await using server = await startServer()
  const proxy = await faultyProxy(server.url)
  const database = openDatabase({ source: { connectionString: proxy.url }, awayMs: 20_000 })
  const known = query('SELECT name FROM toolwright_pins WHERE name = ?')
  await database.ready()
  // as an append: it finds out by itself what is stored
  const write = (name: string): Promise<void> =>
    database.write(
      function* () {
        if (!(yield* rowOf(known, name))) yield* changesOf(pins.add, name, 'x')
      },
      function* () {
        return (yield* rowOf(query('SELECT 1 AS one'))) !== undefined
      },
    )
  for (const fault of ['cut before', 'cut after'] as const) {
    proxy.nextCommit = fault
    const writing = write(fault)
    await expect.poll(() => proxy.nextCommit).toBe('none')
    await server.send('kill')
    await server.send('start')
    await writing
  }
  expect(await namesIn(database)).toEqual(['cut after', 'cut before'])
})

test('transactions work through a pooler that gives each of them another connection', async () => {
  const url = await transactionPooler(serverUrl(), 3)
  const database = openDatabase({ source: { connectionString: url, max: 8 } })
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      database.write(function* () {
        yield* changesOf(pins.add, `${index}`, 'x')
        yield* changesOf(pins.change, 'y', `${index}`)
      }),
    ),
  )
  const [row] = await database.read(function* () {
    yield* rowOf(query('SELECT 1 AS one'))
    return [yield* rowOf(query("SELECT count(*) AS n FROM toolwright_pins WHERE hash = 'y'"))]
  })
  expect(row).toEqual({ n: 50 })
})
