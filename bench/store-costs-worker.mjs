// More parts of store.mjs, one process each: what appends and turns cost over the bare database, and what a worker keeps in memory.
// Prints RESULT and what it has measured.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LlmAgent, Runner, tool } from 'toolwright'

const [, , part, given] = process.argv
const { store, url, data, appends, idle, rep, synchronous } = JSON.parse(given)
const { sqlite } = await import('toolwright/sqlite')
const { postgres } = store === 'postgres' ? await import('toolwright/postgres') : {}
const { default: pg } = store === 'postgres' ? await import('pg') : {}
const CLIENTS = 16
const key = (sessionId) => ({ appName: 'bench', userId: 'ada', sessionId })
const fileOf = (name) => join(data, `${name}.db`)

/** Opens the store. `name`: the file on SQLite, the schema on Postgres. */
function open(name, options = {}) {
  if (store === 'sqlite') return sqlite(fileOf(name), options)
  return postgres({ connectionString: url, max: CLIENTS }, { schema: `bench_${name}` })
}

/** An event of 1 kB as JSON text. */
function eventOf(id) {
  const content = { role: 'user', parts: [{ text: 'x'.repeat(850) }] }
  return { id, invocationId: `e-${id}`, author: 'user', timestamp: 1_700_000_000, actions: {}, content }
}

/** Appends per second of some writers, each with a session of its own. */
async function serviceRate(sessionService, writers) {
  const leases = await Promise.all(
    Array.from({ length: writers }, async () => {
      const { id } = await sessionService.createSession({ appName: 'bench', userId: 'ada' })
      return await sessionService.claim(key(id))
    }),
  )
  const start = performance.now()
  await Promise.all(
    leases.map(async (lease) => {
      let { seq } = lease
      for (let at = 0; at < appends; at++)
        seq = await sessionService.append(lease, seq, [{ event: eventOf(`${lease.sessionId}-${at}`) }])
    }),
  )
  const rate = (writers * appends * 1_000) / (performance.now() - start)
  await Promise.all(leases.map((lease) => sessionService.release(lease)))
  return rate
}

const TABLE = 'bare_log (session text, seq integer, event text, PRIMARY KEY (session, seq))'
const INSERT = 'INSERT INTO bare_log (session, seq, event) VALUES'

/** Inserts per second of a loop that only inserts the events. */
function bareSqlite() {
  const database = new DatabaseSync(fileOf(`bare-${synchronous}`))
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; CREATE TABLE IF NOT EXISTS ${TABLE}`)
  const insert = database.prepare(`${INSERT} (?, ?, ?)`)
  return {
    rate: () => {
      const session = crypto.randomUUID()
      const start = performance.now()
      for (let at = 0; at < appends; at++) insert.run(session, at, JSON.stringify(eventOf(`${session}-${at}`)))
      return (appends * 1_000) / (performance.now() - start)
    },
    close: () => database.close(),
  }
}

/** The same on Postgres, each insert in a transaction, on as many connections as the service has. */
async function barePostgres() {
  const pool = new pg.Pool({ connectionString: url, max: CLIENTS })
  await pool.query(`CREATE TABLE IF NOT EXISTS ${TABLE}`)
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => pool.connect()))
  const insertAll = async (client) => {
    const session = crypto.randomUUID()
    for (let at = 0; at < appends; at++) {
      await client.query('BEGIN')
      await client.query(`${INSERT} ($1, $2, $3)`, [session, at, JSON.stringify(eventOf(`${session}-${at}`))])
      await client.query('COMMIT')
    }
  }
  return {
    rate: async () => {
      const start = performance.now()
      await Promise.all(clients.map(insertAll))
      return (CLIENTS * appends * 1_000) / (performance.now() - start)
    },
    close: async () => {
      for (const client of clients) client.release()
      await pool.end()
    },
  }
}

const parameters = { type: 'object', properties: {} }

/** Calls a tool for each message, then answers. */
function runnerOf(services, options) {
  let calls = 0
  const model = {
    name: 'turns',
    async *generate({ contents }) {
      const isAnswered = contents.at(-1).role === 'tool'
      const functionCall = { id: `call_${process.pid}_${++calls}`, name: 'look', args: {} }
      yield { content: { role: 'model', parts: [isAnswered ? { text: 'It is sunny.' } : { functionCall }] } }
    },
  }
  const look = tool({ name: 'look', description: 'Looks', parameters, run: () => ({ seen: true }), ...options })
  return new Runner({ appName: 'bench', agent: new LlmAgent({ name: 'desk', model, tools: [look] }), ...services })
}

const say = (runner, sessionId) => runner.complete({ userId: 'ada', sessionId, message: 'What is the weather?' })

/** How often the database was committed to until now. */
async function readCommits(name) {
  if (store === 'sqlite') return commitFrames(readFileSync(`${fileOf(name)}-wal`))
  const client = new pg.Client(url)
  await client.connect()
  // each transaction that writes has a number; so has this one
  const { rows } = await client.query('SELECT CAST(pg_current_xact_id() AS text) AS id')
  await client.end()
  return Number(rows[0].id)
}

/** The frames of a write-ahead log of SQLite that end a transaction: they name the size of the database after it. */
function commitFrames(log) {
  const [pageSize, salt] = [log.readUInt32BE(8), log.subarray(16, 24)]
  let commits = 0
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize)
    if (log.subarray(at + 8, at + 16).equals(salt) && log.readUInt32BE(at + 4) > 0) commits++
  return commits
}

/** The commits of some work. Other transactions of a server, such as its own, may come in between: the least of some attempts. */
async function commitsOf(name, work) {
  const counts = []
  for (let at = 0; at < 5; at++) {
    const before = await readCommits(name)
    await work()
    counts.push((await readCommits(name)) - before - (store === 'postgres' ? 1 : 0))
  }
  return Math.min(...counts)
}

async function turnCommits(effect) {
  const name = `commits_${effect.toLowerCase()}_${rep}`
  const services = open(name)
  const runner = runnerOf(services, { effect })
  await say(runner, 's1') // creates tables and the session
  const turn = await commitsOf(name, () => say(runner, 's1'))
  const { sessionService } = services
  const apart = await commitsOf(name, async () => sessionService.release(await sessionService.claim(key('s1'))))
  await services.close()
  return turn - apart
}

/** The bytes that JavaScript values take. */
function heap() {
  for (let at = 0; at < 3; at++) globalThis.gc()
  return process.memoryUsage().heapUsed
}

const parts = {
  /** Appends through the service, over a loop of inserts: both in turn, five times. */
  async rate() {
    const bare = store === 'sqlite' ? bareSqlite() : await barePostgres()
    const services = open(`rate_${synchronous}`, { synchronous })
    const writers = store === 'sqlite' ? 1 : CLIENTS
    const samples = []
    for (let at = 0; at < 6; at++)
      samples.push({ bare: await bare.rate(), service: await serviceRate(services.sessionService, writers) })
    await bare.close()
    await services.close()
    const [middle] = samples
      .slice(1) // the first is slower
      .sort((a, b) => a.service / a.bare - b.service / b.bare)
      .slice(2, 3)
    const name = store === 'sqlite' ? synchronous : `${CLIENTS} clients`
    return { [`rate ${name}`]: middle.service, [`rate share ${name}`]: middle.service / middle.bare }
  },
  async commits() {
    return { 'commits none': await turnCommits('none'), 'commits other': await turnCommits('atMostOnce') }
  },
  /** Turns per second at turn 200 of a session. */
  async late() {
    const services = open(`late_${rep}`)
    const runner = runnerOf(services, { effect: 'none' })
    for (let turn = 1; turn <= 180; turn++) await say(runner, 's1')
    const start = performance.now()
    for (let turn = 181; turn <= 200; turn++) await say(runner, 's1')
    const rate = 20_000 / (performance.now() - start)
    await services.close()
    return { 'late rate': rate }
  },
  /** Sessions that wait for an approval. */
  async fillIdle() {
    const services = open('idle')
    const runner = runnerOf(services, { requiresConfirmation: true })
    let next = 0
    const fill = async () => {
      while (next < idle) {
        const { pending } = await runner.complete({
          userId: `u${next % 100}`,
          sessionId: `idle-${next++}`,
          message: 'Go.',
        })
        if (pending.length !== 1) throw new Error('The run did not pause.')
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, fill))
    await services.close()
    return {}
  },
  /** What a worker beside them keeps: after its first looks into the store, and after 200 more. */
  async idle() {
    const services = open('idle')
    const { sessionService } = services
    const empty = heap()
    const { interrupted } = sessionService
    let looks = 0
    const waiting = new Map()
    sessionService.interrupted = async (...options) => {
      waiting.get(++looks)?.()
      return await interrupted.apply(sessionService, options)
    }
    const reach = (count) => new Promise((resolve) => void waiting.set(count, resolve))
    const stop = new AbortController()
    const [early, late] = [reach(20), reach(220)]
    const work = runnerOf(services, { requiresConfirmation: true }).work({ signal: stop.signal, pollMs: 50 })
    await Promise.race([early, work])
    const first = heap()
    await Promise.race([late, work])
    const last = heap()
    stop.abort()
    await work
    await services.close()
    if (looks < 220) throw new Error('The worker has stopped.')
    return { 'idle MB': (last - empty) / 1e6, 'idle growth MB': (last - first) / 1e6 }
  },
}

console.log(`RESULT ${JSON.stringify(await parts[part]())}`)
process.exit() // connections of a pool that idle
