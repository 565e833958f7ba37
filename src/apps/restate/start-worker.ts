import { systemPorts } from '../../core/base/ports.ts'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { messageOf } from '../../core/error/error.ts'
import { loadPeer } from '../../core/error/load-peer.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import { backgroundObject } from './background-object.ts'
import { openEndpoint } from './endpoint.ts'
import { FleetApp, type FleetParts } from './fleet-app.ts'
import { Ingress, urlOf } from './ingress.ts'
import { SWEEP_KEY, sessionServiceOf, sweepServiceOf } from './names.ts'
import { isUnavailable, register, whileUnavailable } from './register.ts'
import { sessionObject } from './session-object.ts'
import { Sweep, sweepObject } from './sweep-object.ts'
import { checkWorkerOptions, type RestateWorkerOptions } from './worker-options.ts'

/** A worker that Restate calls. */
export interface RestateWorker {
  /** The port it listens on. */
  readonly port: number
  /** Where Restate reaches it. */
  readonly url: string
  /**
   * Resolves when Restate has registered the worker and looks for work. Rejects if it refuses, or if it cannot be reached for a minute.
   * Without `admin`, waits until the worker is registered.
   */
  ready(): Promise<void>
  /**
   * Takes no more sessions, lets turns under way end for `graceMs` (default 10,000), and hands the others to other workers. So it does with
   * the bodies of background calls that may run again; the others it lets end. The runners stay open.
   */
  close(options?: { readonly graceMs?: number | undefined }): Promise<void>
}

const DEFAULT_PORT = 9_080
const GRACE_MS = 10_000
/** How long a worker that stops waits for turns that it hands over, in milliseconds. */
const HAND_OVER_MS = 5_000

/**
 * Starts a worker of a fleet: Restate calls it for the sessions of its apps. Resolves when it listens. Needs the package
 * `@restatedev/restate-sdk`.
 *
 * @example
 * const worker = await startRestateWorker({
 *   runners: [runner],
 *   ingress: 'http://127.0.0.1:8080',
 *   admin: 'http://127.0.0.1:9070',
 *   secret: process.env.FLEET_SECRET,
 * })
 * process.once('SIGTERM', () => worker.close())
 */
export async function startRestateWorker(options: RestateWorkerOptions): Promise<RestateWorker> {
  checkWorkerOptions(options)
  const { runners, host = '127.0.0.1', port = DEFAULT_PORT, concurrency = 10, logger = console } = options
  const { secret, now = Date.now, maxCrashes = 5, runContext, identityKeys } = options
  const sdk = await loadPeer('@restatedev/restate-sdk', () => import('@restatedev/restate-sdk'))
  const stop = new AbortController()
  const parts: FleetParts = { secret, now, maxCrashes, runContext, logger, stopping: stop.signal }
  const apps = runners.map((runner) => new FleetApp(runner, parts))
  const sweeps = apps.map((app) => new Sweep(app))
  const services = apps.flatMap((app, at) => [
    sessionObject(sdk, app),
    backgroundObject(sdk, app),
    sweepObject(sdk, app, sweeps[at] as Sweep),
  ])
  const handle = sdk.createEndpointHandler({
    services,
    ...(identityKeys?.length && { identityKeys: [...identityKeys] }),
    logger: ({ level }, message, ...more) => {
      if (level === 'error') logger.error(messageOf(message ?? more[0]), more[0])
    },
  })
  const endpoint = await openEndpoint(handle, { host, port, concurrency })
  const url = urlOf('url', options.url ?? `http://${host.includes(':') ? `[${host}]` : host}:${endpoint.port}`)
  const presences = await Promise.all(
    runners.map((runner) => runner.internals.startPresence({ engine: 'restate', label: options.label })),
  )
  const closeAll = async (): Promise<void> => {
    await Promise.all(presences.map((presence) => presence?.end()))
    for (const sweep of sweeps) sweep.close()
    await endpoint.close()
  }
  const registered = joinFleet(options, { url, logger, signal: stop.signal })
  registered.catch((error: unknown) => stop.signal.aborted || logger.error(messageOf(error), error))
  const close: RestateWorker['close'] = async ({ graceMs = GRACE_MS } = {}) => {
    const drained = endpoint.drain()
    await withTimeout(drained, graceMs, systemPorts, () => undefined)
    stop.abort()
    await Promise.all(apps.map((app) => app.bodiesEnded())) // those that must not run twice are not handed over
    await withTimeout(drained, HAND_OVER_MS, systemPorts, () => undefined)
    await closeAll()
  }
  return { port: endpoint.port, url: String(url), ready: () => registered, close }
}

/** Registers the worker, and starts the loops that look for work. */
async function joinFleet(
  options: RestateWorkerOptions,
  { url, logger, signal }: { readonly url: URL; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { admin, runners, fetch: send = fetch } = options
  const services = runners.flatMap(({ appName }) => [sessionServiceOf(appName), sweepServiceOf(appName)])
  const registration = { uri: url, services }
  if (admin !== undefined) await whileUnavailable(() => register(urlOf('admin', admin), registration, send), signal)
  const ingress = new Ingress(options)
  for (const { appName } of runners) {
    const target = { service: sweepServiceOf(appName), key: SWEEP_KEY, handler: 'start' }
    const start = (): Promise<void> => whileUnavailable(() => ingress.send(target, {}), signal)
    await (admin === undefined ? untilRegistered(start, { logger, signal }) : start())
  }
}

/** Repeats the work until other means have registered the worker. Reports each minute that it waits. */
async function untilRegistered(
  work: () => Promise<void>,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || !isUnavailable(error)) throw error
      logger.error(messageOf(error), error)
    }
  }
}
