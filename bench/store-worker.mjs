// The parts of store.mjs, one process each. Prints RESULT and what it has measured.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { approve, LlmAgent, Runner, tool } from 'toolwright'

const [, , part, given] = process.argv
const { store, url, data, entries, rep } = JSON.parse(given)
const LONG = 'long'
const SHORT_ENTRIES = 50
const SHORT_SESSIONS = 12
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]
const key = (sessionId) => ({ appName: 'bench', userId: 'ada', sessionId })

// before any clock starts
const { sqlite } = await import('toolwright/sqlite')
const { postgres } = store === 'postgres' ? await import('toolwright/postgres') : {}

/** Opens the store. `name`: the database file on SQLite. */
function open(name = 'sessions') {
  if (store === 'sqlite') {
    const path = join(data, `${name}.db`)
    const services = sqlite(path)
    return { services, bytes: () => statSync(path).size, close: () => services.close() }
  }
  const services = postgres(url)
  return { services, bytes: () => databaseSize(), close: () => services.close() }
}

async function databaseSize() {
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class WHERE relkind = 'r' AND relname LIKE 'toolwright%'`,
  )
  await client.end()
  return Number(rows[0].bytes)
}

const parameters = { type: 'object', properties: { n: { type: 'number' } } }
let calls = 0

/** Calls the tool once for each message, then answers. */
const turnModel = {
  name: 'turns',
  async *generate({ contents }) {
    const isAnswered = contents.at(-1).role === 'tool'
    const functionCall = { id: `call_${Date.now()}_${++calls}`, name: 'look', args: { n: calls } }
    yield { content: { role: 'model', parts: [isAnswered ? { text: 'It is sunny.'.repeat(20) } : { functionCall }] } }
  },
}

function runnerFor(services) {
  const run = ({ n }) => ({ n, seen: 'x'.repeat(500) })
  const look = tool({ name: 'look', description: 'Looks', effect: 'none', parameters, run })
  const agent = new LlmAgent({ name: 'desk', model: turnModel, tools: [look], history: { lastTurns: 50 } })
  return new Runner({ appName: 'bench', agent, ...services })
}

const say = (runner, sessionId) =>
  runner.complete({ userId: 'ada', sessionId, message: 'What is the weather?'.repeat(10) })

async function lengthOf(services, sessionId) {
  const page = await services.sessionService.readLog({ ...key(sessionId), fromSeq: 1, limit: 1 })
  return page?.lastSeq ?? 0
}

async function fillTo(runner, services, sessionId, count) {
  let length = await lengthOf(services, sessionId)
  for (; length < count; length += 4) await say(runner, sessionId)
}

/** Time of the first turn of a store that was just opened, in milliseconds. */
async function reopenedTurn(sessionId) {
  const { services, close } = open()
  const runner = runnerFor(services)
  const start = performance.now()
  const { text } = await say(runner, sessionId)
  const ms = performance.now() - start
  if (!text.startsWith('It is sunny.')) throw new Error(`The turn gave ${text}`)
  await close()
  return ms
}

/** Time of one append of a 1 kB event, in microseconds. */
async function appendUs(services, sessionId) {
  const { sessionService } = services
  const lease = await sessionService.claim(key(sessionId))
  let { seq } = lease
  const times = []
  for (let at = 0; at < 300; at++) {
    const id = `${sessionId}-${rep}-${at}`
    const content = { role: 'user', parts: [{ text: 'x'.repeat(900) }] }
    const event = { id, invocationId: `e-${id}`, author: 'user', timestamp: 1, actions: {}, content }
    const start = performance.now()
    seq = await sessionService.append(lease, seq, [{ event }])
    times.push((performance.now() - start) * 1_000)
  }
  await sessionService.release(lease)
  return median(times)
}

/** A model that calls 20 tools one after another, then one that an approver must confirm. */
function largeAgent() {
  const model = {
    name: 'large',
    async *generate({ contents }) {
      const done = contents.filter(({ role }) => role === 'tool').length
      const name = done < 20 ? 'read' : 'pay'
      const functionCall = { id: `call_${done}`, name, args: { n: done } }
      yield { content: { role: 'model', parts: [done > 20 ? { text: 'Paid.' } : { functionCall }] } }
    },
  }
  const run = ({ n }) => ({ text: `${n} `.repeat(50_000 / `${n} `.length) })
  const read = tool({ name: 'read', description: 'Reads', effect: 'none', parameters, run })
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    parameters,
    requiresConfirmation: true,
    run: () => ({ paid: true }),
  })
  return new LlmAgent({ name: 'desk', model, tools: [read, pay], maxIterations: 50 })
}

const parts = {
  async fill() {
    const { services, close } = open()
    const runner = runnerFor(services)
    for (let at = 0; at < SHORT_SESSIONS; at++) await fillTo(runner, services, `short-${at}`, SHORT_ENTRIES)
    await fillTo(runner, services, LONG, entries)
    await close()
    return {}
  },
  async turn() {
    const times = { long: [], short: [] }
    for (let at = 0; at < 20; at++) {
      const sessionId = at % 2 ? LONG : `warm-${rep}-${at}`
      if (at % 2 === 0) {
        const { services, close } = open()
        await fillTo(runnerFor(services), services, sessionId, SHORT_ENTRIES)
        await close()
      }
      times[at % 2 ? 'long' : 'short'].push(await reopenedTurn(sessionId))
    }
    return { 'turn long': median(times.long.slice(3)), 'turn short': median(times.short.slice(3)) }
  },
  async append() {
    const { services, close } = open()
    const sessions = { short: [], long: [] }
    for (let at = 0; at < 6; at++) {
      const sessionId = `append-${rep}-${at}`
      await fillTo(runnerFor(services), services, sessionId, 10)
      sessions.short.push(await appendUs(services, sessionId))
      sessions.long.push(await appendUs(services, LONG))
    }
    await close()
    return { 'append long': median(sessions.long.slice(1)), 'append short': median(sessions.short.slice(1)) }
  },
  async pause() {
    const name = `paused-${rep}`
    const first = open(name)
    const empty = await first.bytes()
    const { services, close } = first
    const runner = new Runner({ appName: 'bench', agent: largeAgent(), ...services })
    const { pending } = await runner.complete({ userId: 'ada', sessionId: name, message: 'Read all.' })
    if (pending.length !== 1) throw new Error('The run did not pause.')
    const log = await services.sessionService.readLog(key(name))
    await close()
    const { bytes, close: closeAgain } = open(name)
    const stored = (await bytes()) - empty
    await closeAgain()
    return { stored: stored / Buffer.byteLength(JSON.stringify(log.entries)) }
  },
  async resume() {
    const name = `paused-${rep}`
    const start = performance.now()
    const { services, close } = open(name)
    const runner = new Runner({ appName: 'bench', agent: largeAgent(), ...services })
    const [request] = await runner.pending({ userId: 'ada', sessionId: name })
    const { text } = await runner.complete({ userId: 'ada', sessionId: name, message: [approve(request)] })
    const resume = performance.now() - start
    if (text !== 'Paid.') throw new Error(`The run gave ${text}`)
    await close()
    return { resume }
  },
}

console.log(`RESULT ${JSON.stringify(await parts[part]())}`)
