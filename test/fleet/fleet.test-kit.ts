// A fleet for one test: an app with a name of its own on the shared Restate, and workers in this process.
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Agent,
  InMemorySessionService,
  type JsonObject,
  Runner,
  type RunnerOptions,
  type SessionService,
} from 'toolwright'
import {
  type RestateEngine,
  type RestateWorker,
  type RestateWorkerOptions,
  restate,
  type SealedCall,
  sealCall,
  startRestateWorker,
} from 'toolwright/restate'
import { inject, onTestFinished } from 'vitest'
import { keyOfSession, sessionServiceOf } from '../../src/apps/restate/names.ts'
import { type Balancer, startBalancer } from './balancer.ts'

/** Signs the calls of all fleets of a test file. */
export const SECRET = 'a secret of the tests, long enough for a worker'

/** The user and the session of most tests. */
export const ADA = { userId: 'ada', sessionId: 's1' }

/** The server of this run. Call it in tests only, which are skipped without one. */
export function sharedRestate(): NonNullable<ReturnType<typeof inject<'restate'>>> {
  const shared = inject('restate')
  if (!shared) throw new Error('This test needs a network namespace.')
  return shared
}

/** A balancer in front of workers, at an address that Restate can reach. It closes after the test. */
export async function openBalancer(): Promise<Balancer> {
  const { folder, addresses } = sharedRestate()
  for (const [at, url] of addresses.entries()) {
    const path = join(folder, `workers-${at}`)
    const isOfOther = await mkdir(`${path}-taken`).catch(() => true) // Restate keeps the services of an address
    if (isOfOther) continue
    const balancer = await startBalancer({ path }, url)
    onTestFinished(() => balancer.close())
    return balancer
  }
  throw new Error('Restate has no address left for a worker. Raise ADDRESSES.')
}

/** A fleet of one app. */
export interface Fleet {
  readonly appName: string
  readonly sessionService: SessionService
  readonly engine: RestateEngine
  /** The runner of a web server. It runs nothing by itself. */
  readonly web: Runner
  /** A runner of the app. */
  openRunner(options?: Partial<RunnerOptions>): Runner
  /** Starts a worker, and waits until Restate knows it, unless `isAwaited` is false. It is closed after the test. */
  startWorker(options?: FleetWorkerOptions, how?: { readonly isAwaited: boolean }): Promise<RestateWorker>
  /** Calls a handler of the object of a session, and returns the response of the ingress. */
  call(handler: string, input: JsonObject, session?: typeof ADA): Promise<Response>
}

interface FleetWorkerOptions extends Partial<RestateWorkerOptions> {
  /** Where Restate reaches the worker. Default: the balancer of the fleet. */
  readonly balancer?: Balancer
  /** What its runner has instead of that of the fleet. */
  readonly runner?: Partial<RunnerOptions>
}

const quiet = { warn: () => {}, error: () => {} }

/** Prepares a fleet without workers. */
export async function openFleet(
  agent: Agent,
  { sessionService = new InMemorySessionService(), ...common }: Partial<RunnerOptions> = {},
): Promise<Fleet> {
  const { ingress, admin } = sharedRestate()
  const appName = `shop-${randomUUID()}`
  const engine = restate({ ingress, secret: SECRET })
  const openRunner: Fleet['openRunner'] = (options) => {
    const runner = new Runner({ appName, agent, sessionService, logger: quiet, engine, ...common, ...options })
    onTestFinished(() => runner.close())
    return runner
  }
  const web = openRunner()
  const shared = await openBalancer()
  return {
    appName,
    sessionService,
    engine,
    web,
    openRunner,
    startWorker: async ({ balancer = shared, runner, ...options } = {}, { isAwaited } = { isAwaited: true }) => {
      const worker = await startRestateWorker({
        runners: [openRunner(runner)],
        ingress,
        admin,
        url: balancer.url,
        secret: SECRET,
        port: 0,
        logger: quiet,
        ...options,
      })
      onTestFinished(() => worker.close({ graceMs: 0 }))
      balancer.ports.add(worker.port)
      worker.ready().catch(() => {}) // the test awaits it, if it cares
      if (isAwaited) await worker.ready()
      return worker
    },
    call: (handler, input, session = ADA) => {
      const target = { service: sessionServiceOf(appName), key: keyOfSession(session), handler }
      return postToIngress(target, sealCall(SECRET, target, input, Date.now()))
    },
  }
}

/** Sends anything to a handler, as any client of the ingress can. */
export async function postToIngress(
  { service, key, handler }: { readonly service: string; readonly key: string; readonly handler: string },
  call: SealedCall | JsonObject | string,
): Promise<Response> {
  const path = [service, key, handler].map(encodeURIComponent).join('/')
  return await fetch(new URL(path, sharedRestate().ingress), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof call === 'string' ? call : JSON.stringify(call),
  })
}

/** Asks Restate what it knows of invocations. */
export async function queryRestate(sql: string): Promise<readonly JsonObject[]> {
  const response = await fetch(new URL('query', sharedRestate().admin), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: sql }),
  })
  if (!response.ok) throw new Error(await response.text())
  return ((await response.json()) as { rows: JsonObject[] }).rows
}
