// A fleet on one machine: Restate, Postgres, three workers and a load. One worker is killed in the middle; each refund is paid once.
//   npx node examples/fleet/local.ts                               starts the Postgres server of this repository
//   DATABASE_URL=postgres://... npx node examples/fleet/local.ts   uses yours
// Restate asks for its newest version when it starts, whatever its settings say. Nothing else leaves this machine.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { approve, Runner } from 'toolwright'
import { restate } from 'toolwright/restate'
import { openBank } from '../replicas/bank.ts'
import { openDatabase } from '../replicas/database.ts'
import { startBalancer } from './balancer.ts'
import { startRestate } from './restate.ts'

const WORKERS = 3
const SESSIONS = 30

const folder = mkdtempSync(join(tmpdir(), 'toolwright-fleet-example-'))
const secret = randomBytes(32).toString('hex')
const [server, database, balancer] = await Promise.all([startRestate(folder), openDatabase(), startBalancer()])
let payments = 0
const bank = await openBank(async (client) => {
  // the bank has paid, and the worker waits for its answer: the worst moment
  if (++payments === SESSIONS / 3) await kill(client)
})
process.env.DATABASE_URL = database.url
process.env.BANK_URL = bank.url

const workers = new Map<string, ChildProcess>()
for (let at = 1; at <= WORKERS; at++) workers.set(`worker ${at}`, await startWorker(`worker ${at}`))
console.log(`${WORKERS} workers continue sessions that are stored in Postgres. Restate calls them.`)

// A web server would do this: it stores messages and answers, and runs nothing.
const { default: desk } = await import('./desk.ts')
const engine = restate({ ingress: server.ingress, secret })
const { appName, agent, sessionService } = desk
const web = new Runner({ appName, agent, engine, sessionService })
for (let at = 0; at < SESSIONS; at++) {
  const message = `Refund ${10 + at} EUR for order A-${at}.`
  await web.submit({ userId: `user-${at % 10}`, sessionId: `s${at}`, message })
}
console.log(`${SESSIONS} messages are stored.`)

const pending = await untilPending()
console.log(`${pending.length} refunds wait for an approval, and no worker waits with them.`)
for (const request of pending) {
  const { userId, sessionId } = request
  await web.answer({ userId, sessionId, message: [approve(request)] })
}
console.log('All are approved.')

await untilDone()
const paid = bank.paid.size
console.log(`The bank was asked ${bank.requests} times, and paid ${paid} refunds.`)

for (const worker of workers.values()) worker.kill('SIGKILL')
await web.close()
bank.close()
balancer.close()
await server.close()
await database.close()
rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
process.exit(paid === SESSIONS ? 0 : 1)

async function startWorker(name: string): Promise<ChildProcess> {
  const child = fork(new URL('worker.ts', import.meta.url), {
    env: {
      ...process.env,
      REPLICA: name,
      RESTATE_URL: server.ingress,
      RESTATE_ADMIN_URL: server.admin,
      WORKERS_URL: balancer.url,
      TOOLWRIGHT_FLEET_SECRET: secret,
    },
  })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  balancer.ports.add(port)
  child.once('exit', () => balancer.ports.delete(port))
  return child
}

/** Kills a worker with SIGKILL, which it cannot notice. */
async function kill(name: string): Promise<void> {
  const worker = workers.get(name)
  if (!worker) return
  workers.delete(name)
  const exited = once(worker, 'exit')
  worker.kill('SIGKILL')
  await exited
  console.log(
    `The bank has paid. Before it answers, kill -9 ends ${name}. Restate calls another worker for its sessions.`,
  )
}

async function untilPending(): Promise<Awaited<ReturnType<typeof web.pending>>> {
  for (;;) {
    const found = await web.pending({ kind: 'confirmation' })
    if (found.length === SESSIONS) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Waits until the last event of each session is the answer of the model. */
async function untilDone(): Promise<void> {
  for (let at = 0; at < SESSIONS; at++) {
    const key = { appName, userId: `user-${at % 10}`, sessionId: `s${at}`, config: { numRecentEvents: 1 } }
    for (;;) {
      const session = await sessionService.getSession(key)
      if (session?.events[0]?.content?.parts[0]?.text?.startsWith('Paid')) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
