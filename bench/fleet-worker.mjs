// The processes of the fleet benchmark: a worker that Restate calls, and a caller. Each prints one line with what it has measured.
import { LlmAgent, Runner, tool } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { restate, startRestateWorker } from 'toolwright/restate'

const [part, given] = [process.argv[2], JSON.parse(process.argv[3])]
const { url, ingress, admin, balancer, secret } = given
const services = postgres(url, { schema: 'fleet' })
const quiet = { warn() {}, error() {} }
const engine = restate({ ingress, secret })

/** Answers a message with one call of the tool that the message names, then with "done". */
const model = {
  name: 'bench',
  async *generate({ contents }) {
    const last = contents.at(-1)
    const name = last.role === 'user' ? last.parts[0].text : undefined
    const parts =
      name && last.parts[0].functionResponse === undefined ? [{ functionCall: { name, args: {} } }] : [{ text: 'done' }]
    yield { content: { role: 'model', parts } }
  },
}

function burn(ms) {
  const until = performance.now() + ms
  let value = 0
  while (performance.now() < until) value = Math.sqrt(value + 1)
  return value
}

const nothing = new Int32Array(new SharedArrayBuffer(4))

function hold(ms) {
  return Atomics.wait(nothing, 0, 0, ms)
}

const effect = 'idempotent'
const tools = [
  tool({ name: 'look_up', description: 'Looks up', effect, run: () => ({ name: 'Ada' }) }),
  tool({ name: 'compute', description: 'Computes', effect, run: () => ({ value: burn(20) }) }),
  // holds its thread and no core, as computing does on a machine with a core for each worker
  tool({ name: 'hold', description: 'Holds the thread', effect, run: () => ({ value: hold(20) }) }),
  tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) }),
]
const agent = new LlmAgent({ name: 'desk', model, tools })
const runner = new Runner({ appName: 'bench', agent, engine, logger: quiet, ...services })
const result = (values) => console.log(`RESULT ${JSON.stringify(values)}`)
const userId = (at) => `user-${at % 50}`

const parts = {
  /** Runs sessions until it is ended. Tells its memory when it is asked. */
  async worker() {
    const worker = await startRestateWorker({
      runners: [runner],
      ingress,
      admin,
      url: balancer,
      secret,
      port: 0,
      concurrency: 20,
      logger: quiet,
    })
    process.on('message', () => {
      globalThis.gc?.()
      globalThis.gc?.()
      process.send({ heapMB: process.memoryUsage().heapUsed / 1e6 })
    })
    process.once('disconnect', () => process.exit())
    await services.ready()
    process.send({ port: worker.port })
  },

  /** Turns in this process and turns on a worker, one after the other, in the same database. */
  async turn({ turns }) {
    await services.ready()
    const own = []
    const fleet = []
    for (let at = 0; at < turns; at++) {
      const session = { userId: userId(at), sessionId: `own-${process.pid}-${at}` }
      let start = performance.now()
      await runner.complete({ ...session, message: 'look_up' })
      own.push(performance.now() - start)
      const other = { userId: userId(at), sessionId: `fleet-${process.pid}-${at}` }
      start = performance.now()
      await engine.call({ appName: 'bench', ...other }, 'run', { message: 'look_up', id: 'm' })
      fleet.push(performance.now() - start)
    }
    const p50 = (values) => values.sort((a, b) => a - b)[values.length >> 1]
    result({ 'turn own': p50(own), 'turn fleet': p50(fleet) })
  },

  /** Sessions whose tool takes its worker for 20 ms, as fast as the workers can. */
  async load({ sessions }) {
    await services.ready()
    const rates = {}
    for (const message of ['compute', 'hold']) {
      const start = performance.now()
      const send = (_, at) => {
        const session = { appName: 'bench', userId: userId(at), sessionId: `${message}-${process.pid}-${at}` }
        return engine.call(session, 'run', { message, id: 'm' })
      }
      await Promise.all(Array.from({ length: sessions }, send))
      rates[message] = sessions / ((performance.now() - start) / 1000)
    }
    result(rates)
  },

  /** Sessions that wait for an approval. */
  async fill({ idle }) {
    await services.ready()
    const own = new Runner({ appName: 'bench', agent, logger: quiet, ...services })
    let next = 0
    const fillSome = async () => {
      for (let at = next++; at < idle; at = next++)
        await own.complete({ userId: userId(at), sessionId: `idle-${at}`, message: 'pay' })
    }
    await Promise.all(Array.from({ length: 8 }, fillSome))
    result({ idle })
  },
}

await parts[part](given)
if (part !== 'worker') process.exit()
