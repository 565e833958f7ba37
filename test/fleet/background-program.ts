// Background calls on real workers, which are killed. A program, so that it runs in a network of its own. Prints its report as JSON.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runner } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { restate } from 'toolwright/restate'
import { buildProgram } from '../crash/build-program.ts'
import { startServer } from '../postgres/server.ts'
import { type Deed, deedsIn, endFile, openDesk } from './background-desk.ts'
import type { BackgroundWorkerOptions } from './background-worker.ts'
import { startBalancer } from './balancer.ts'
import { startRestate } from './restate-server.ts'

/** What became of a session. */
export interface SessionReport {
  readonly deeds: readonly Deed[]
  /** The final responses to its background calls. */
  readonly results: readonly unknown[]
  /** How many processes had died, for each attempt in the log. */
  readonly crashes: readonly number[]
  /** The last text of the model. */
  readonly text: string | undefined
  /** The processes whose progress a consumer of the run has seen. */
  readonly seen: readonly number[]
}

/** The process that dispatches, and the sessions by name. */
export interface BackgroundReport {
  readonly pid: number
  readonly sessions: Readonly<Record<string, SessionReport>>
}

const TIMEOUT_MS = 60_000
const folder = mkdtempSync(join(tmpdir(), 'toolwright-background-'))
const [restateServer, postgresServer, balancer, program] = await Promise.all([
  startRestate(join(folder, 'restate')),
  startServer(),
  startBalancer(),
  buildProgram(folder, new URL('./background-worker.ts', import.meta.url)),
])
const { ingress, admin } = restateServer
const secret = randomBytes(32).toString('hex')
const services = postgres(postgresServer.url, { schema: 'fleet' })
await services.ready()
const logger = { warn: () => {}, error: () => {} }
const engine = restate({ ingress, secret })
const web = openDesk(folder, { engine, logger, ...services })
const workers = new Map<number, { readonly child: ChildProcess; readonly port: number }>()
const sessions: Record<string, SessionReport> = {}

try {
  await tellLater()
  await startWorker()
  await startWorker()
  await tellLaterEnds()
  await elsewhere()
  for (const effect of ['none', 'idempotent', 'reconcilable', 'atMostOnce']) await kill(effect, effect)
  await kill('clerk', 'slow')
  await drain()
  await end('cancel', () => web.cancel(sessionOf('cancel')))
  await end('delete', () => web.deleteSession(sessionOf('delete')))
  console.log(JSON.stringify({ pid: process.pid, sessions } satisfies BackgroundReport))
} finally {
  for (const { child } of workers.values()) child.kill('SIGKILL')
  await web.close()
  await services.close().catch(() => {})
  balancer.close()
  await restateServer.close()
  await postgresServer.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
process.exit()

/** The engine cannot be asked, and its time has passed when the first worker starts. */
async function tellLater(): Promise<void> {
  const away = { wake: () => Promise.resolve(), runBackground: () => Promise.reject(new Error('away')) }
  const ports = { now: () => Date.now() - 40_000 }
  const alone = openDesk(folder, { engine: away, ports, logger, ...services })
  await alone.complete({ ...sessionOf('told later'), message: 'none' })
  await alone.close()
}

async function tellLaterEnds(): Promise<void> {
  await deed('told later', 'began')
  await finish('told later')
}

/** This process runs the session, and a worker the body. A consumer of the run follows both. */
async function elsewhere(): Promise<void> {
  const seen: number[] = []
  const where = sessionOf('elsewhere')
  for await (const { partial, content } of web.run({ ...where, message: 'none slow' })) {
    const { name, response } = content?.parts[0]?.functionResponse ?? {}
    const progress = response?.progress as { by: number } | undefined
    if (!partial || name !== 'none' || !progress) continue
    seen.push(progress.by)
    writeFileSync(endFile(folder, 'elsewhere'), '')
  }
  await finish('elsewhere', seen)
}

/** Kills the worker of a body. */
async function kill(message: string, tool: string): Promise<void> {
  await web.submit({ ...sessionOf(message), message })
  const { pid } = await deed(message, 'began')
  await killWorker(pid)
  await startWorker()
  if (message === 'none' || message === 'idempotent' || message === 'clerk')
    await until(() => of(message).find((one) => one.what === 'began' && one.tool === tool && one.pid !== pid))
  await finish(message)
}

/** Stops the worker of a body as a deploy does. */
async function drain(): Promise<void> {
  await web.submit({ ...sessionOf('drain'), message: 'idempotent' })
  const { pid } = await deed('drain', 'began')
  const worker = workers.get(pid)
  workers.delete(pid)
  if (worker) {
    balancer.ports.delete(worker.port)
    worker.child.send('stop')
  }
  await until(() => of('drain').find((one) => one.what === 'began' && one.pid !== pid))
  await finish('drain')
  await startWorker()
}

/** Ends a session while a body of it runs on a worker. */
async function end(name: string, work: () => Promise<void>): Promise<void> {
  await web.submit({ ...sessionOf(name), message: 'none' })
  await deed(name, 'began')
  await work()
  await deed(name, 'aborted')
  sessions[name] = await reportOf(name, [])
}

/** Lets the bodies of a session end, and waits for the answer of its model. */
async function finish(name: string, seen: readonly number[] = []): Promise<void> {
  if (name !== 'elsewhere') writeFileSync(endFile(folder, name), '')
  await until(async () => {
    const pending = await web.pending(sessionOf(name))
    const { text } = await reportOf(name, [])
    return pending.length === 0 && text === 'done'
  })
  sessions[name] = await reportOf(name, seen)
}

async function reportOf(name: string, seen: readonly number[]): Promise<SessionReport> {
  const log = await services.sessionService.readLog?.({ appName: web.appName, ...sessionOf(name) })
  const entries = log?.entries ?? []
  const parts = entries.flatMap(({ event }) => event?.content?.parts ?? [])
  const results = parts.flatMap(({ functionResponse: one }) =>
    one && !one.willContinue && one.name !== 'slow' ? [one.response] : [],
  )
  const crashes = entries.flatMap(({ record }) => (record?.type === 'attempt' ? [record.crashes] : []))
  // without the answer of an agent tool, which comes before that of the session's agent
  const last = entries.findLast(({ event }) => event?.content?.role === 'model' && event.isolationScope === undefined)
  return { deeds: of(name), results, crashes, text: last?.event?.content?.parts[0]?.text, seen }
}

async function startWorker(): Promise<void> {
  const options: BackgroundWorkerOptions = {
    store: postgresServer.url,
    ingress,
    admin,
    url: balancer.url,
    secret,
    folder,
  }
  const child = fork(program, [JSON.stringify(options)], { execArgv: ['--disable-warning=ExperimentalWarning'] })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  balancer.ports.add(port)
  workers.set(child.pid ?? 0, { child, port })
}

async function killWorker(pid: number): Promise<void> {
  const worker = workers.get(pid)
  if (!worker) throw new Error(`Process ${pid} is no worker.`)
  workers.delete(pid)
  balancer.ports.delete(worker.port)
  const exited = once(worker.child, 'exit')
  worker.child.kill('SIGKILL')
  await exited
}

function deed(name: string, what: Deed['what']): Promise<Deed> {
  return until(() => of(name).find((one) => one.what === what))
}

function of(name: string): readonly Deed[] {
  return deedsIn(folder).filter(({ sessionId }) => sessionId === name)
}

function sessionOf(name: string): Pick<Parameters<Runner['cancel']>[0], 'userId' | 'sessionId'> {
  return { userId: 'ada', sessionId: name }
}

async function until<T>(find: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const end = performance.now() + TIMEOUT_MS
  for (;;) {
    const found = await find()
    if (found) return found
    if (performance.now() > end) throw new Error(`Not in time: ${find}. ${JSON.stringify(deedsIn(folder))}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
