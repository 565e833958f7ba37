// `toolwright worker --restate` and `toolwright fleet` as processes: a deploy with two versions, then a worker that is killed. Prints
// what was seen as JSON.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Runner } from 'toolwright'
import { restate } from 'toolwright/restate'
import { freePort } from '../../src/apps/cli/consent/free-port.test-kit.ts'
import type { FleetView } from '../../src/engine/runner/work/fleet-view.ts'
import { startServer } from '../postgres/server.ts'
import { startBalancer } from './balancer.ts'
import { startRestate } from './restate-server.ts'

/** What the test checks. */
export interface WorkerCommandReport {
  /** Workers while two versions run. */
  readonly sideBySide: FleetView
  /** The exit code of the worker that got SIGTERM, and what it printed. */
  readonly stopped: { readonly code: number | null; readonly out: string; readonly errors: string }
  /** After the worker has left. */
  readonly afterDeploy: FleetView
  /** After the second worker was killed, and a third one has continued its session. */
  readonly afterCrash: FleetView
  /** Which workers called the office, by session. */
  readonly calls: { readonly [topic: string]: readonly string[] }
  /** The last texts of the sessions. */
  readonly replies: readonly string[]
}

const folder = mkdtempSync(join(tmpdir(), 'toolwright-worker-command-'))
const [server, database, office, balancer] = await Promise.all([
  startRestate(join(folder, 'restate')),
  startServer(),
  openOffice(),
  startBalancer(),
])
const secret = randomBytes(32).toString('hex')
const CLI = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning', 'src/apps/cli/index.ts']
const FILE = 'test/fleet/worker-desk.ts'
const common = { ...process.env, DATABASE_URL: database.url, OFFICE_URL: office.url, TOOLWRIGHT_FLEET_SECRET: secret }
Object.assign(process.env, common)
const { default: desk } = (await import('./worker-desk.ts')) as { default: Runner }
const { appName, agent, sessionService } = desk
const web = new Runner({ appName, agent, sessionService, engine: restate({ ingress: server.ingress, secret }) })

const first = await startWorker('first', 'v1')
await web.submit({ userId: 'ada', sessionId: 's1', message: 'File topic handover.' })
await office.called('first')
const second = await startWorker('second', 'v2')
const sideBySide = await fleetWith(
  (view) => view.workers.length === 2 && view.workers.some(({ running }) => running > 0),
)
office.answers.add('second')
first.process.kill('SIGTERM')
const stopped = await first.ended
await office.answered('second')
const afterDeploy = await fleetWith(({ workers }) => workers.length === 1 && (workers[0]?.continued ?? 0) > 0)

office.answers.delete('second')
await web.submit({ userId: 'ada', sessionId: 's2', message: 'File topic crash.' })
await office.called('second', 'crash')
second.process.kill('SIGKILL')
await second.ended
office.answers.add('third')
await startWorker('third', 'v2')
await office.answered('third')
const afterCrash = await fleetWith(({ recoveries }) => recoveries.count > 0)
const replies = await Promise.all(['s1', 's2'].map(lastText))
console.log(JSON.stringify({ sideBySide, stopped, afterDeploy, afterCrash, calls: office.calls, replies }))
balancer.close()
await server.close()
await database.close()
rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
process.exit()

interface StartedWorker {
  readonly process: ChildProcess
  readonly ended: Promise<{ code: number | null; out: string; errors: string }>
}

/** Starts a worker, and waits until it is registered. The workers of v2 are behind a balancer, the one of v1 is alone. */
async function startWorker(label: string, version: string): Promise<StartedWorker> {
  const port = await freePort()
  const places = [
    '--restate',
    server.ingress,
    '--restate-admin',
    server.admin,
    '--port',
    String(port),
    '--label',
    label,
  ]
  if (version === 'v2') {
    places.push('--url', balancer.url)
    balancer.ports.add(port)
  }
  const child = spawn(process.execPath, [...CLI, 'worker', FILE, ...places], {
    env: { ...common, WORKER: label, VERSION: version },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const written = { out: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => (written.out += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (written.errors += text))
  const ended = once(child, 'close').then(([code]) => {
    balancer.ports.delete(port)
    return { code: code as number | null, ...written }
  })
  while (!written.out.includes('Registered at')) {
    const isOver = await Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)])
    if (isOver) throw new Error(`Worker "${label}" ended: ${written.out} ${written.errors}`)
  }
  return { process: child, ended }
}

/** Runs `toolwright fleet --json` until its view is as wanted. */
async function fleetWith(isWanted: (view: FleetView) => boolean): Promise<FleetView> {
  const child = spawn(process.execPath, [...CLI, 'fleet', FILE, '--json', '--watch'], {
    env: common,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    const wanted = lines.map((line) => JSON.parse(line).apps[0] as FleetView).find(isWanted)
    if (!wanted) continue
    child.kill('SIGTERM')
    return wanted
  }
  throw new Error('toolwright fleet has ended.')
}

async function lastText(sessionId: string): Promise<string> {
  for (;;) {
    const session = await sessionService.getSession({
      appName,
      userId: 'ada',
      sessionId,
      config: { numRecentEvents: 1 },
    })
    const text = session?.events[0]?.content?.parts[0]?.text
    if (text && session.events[0]?.author === 'desk') return text
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The world outside. It answers only the workers in `answers`; the calls of others hang. */
async function openOffice() {
  const calls: { [topic: string]: string[] } = {}
  const answers = new Set<string>()
  const waiting: { readonly worker: string; readonly response: ServerResponse }[] = []
  const changes = new EventTarget()
  const answeredBy = new Set<string>()
  const listener = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { worker, topic } = JSON.parse(text) as { worker: string; topic: string }
    calls[topic] = [...(calls[topic] ?? []), worker]
    if (answers.has(worker)) {
      answeredBy.add(worker)
      response.end('{"filed":true}')
    } else waiting.push({ worker, response })
    changes.dispatchEvent(new Event('change'))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone()) await once(changes, 'change')
  }
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    calls,
    answers,
    called: (worker: string, topic?: string) =>
      until(() => Object.entries(calls).some(([name, by]) => (topic ?? name) === name && by.includes(worker))),
    answered: (worker: string) => until(() => answeredBy.has(worker)),
  }
}
