import { systemPorts } from '../../core/base/ports.ts'
import { showAs } from '../../core/base/show-as.ts'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { loadPeer, requirePeers } from '../../core/error/load-peer.ts'
import { Apps } from './apps.ts'
import type { FetchHandler, ServerParts } from './env.ts'
import { AllowedHosts } from './guard/allowed-hosts.ts'
import { FramePace } from './guard/frame-pace.ts'
import { RequestRate } from './guard/request-rate.ts'
import { RunSlots } from './guard/run-slots.ts'
import { Metrics } from './health/metrics.ts'
import { RunFigures } from './health/run-figures.ts'
import type { Listening } from './listen.ts'
import { createToken } from './principal/create-token.ts'
import { Pruning } from './recovery/pruning.ts'
import { ServerWork } from './recovery/server-work.ts'
import { DEFAULT_LIMITS, type ServerOptions } from './server-options.ts'
import { checkBind, checkServerOptions } from './server-rules.ts'

/** Where a server listens. */
export interface ListenOptions {
  /** The port; 0 takes a free one. */
  readonly port: number
  /** The address. Default 127.0.0.1. */
  readonly host?: string | undefined
}

/** Serves apps over HTTP. */
export interface ToolwrightServer extends AsyncDisposable {
  /** Handles a request: pass it to any host that speaks `fetch`. Live sessions need `listen()`. */
  fetch(request: Request): Promise<Response>
  /** Listens on a port. Resolves with the address. Refuses an address that other machines can reach without authentication. */
  listen(options: ListenOptions): Promise<{ readonly url: string; readonly port: number }>
  /** The token that requests need; undefined if the server has `authenticate`. */
  readonly token: string | undefined
  /**
   * Continues interrupted runs now, at most `concurrentRuns` at the same time; the others follow while the server listens. Returns
   * how many were continued, by app. Does nothing with `recover: false`.
   */
  recover(): Promise<ReadonlyMap<string, number>>
  /** Stops accepting requests, waits for runs, then closes the runners. Runs that take longer stay interrupted. */
  close(): Promise<void>
}

/** How long closing takes at most after the runs have ended or were interrupted, in milliseconds. */
const CLOSE_MS = 400

/**
 * Creates the HTTP server of one or more apps: ADK's REST and SSE routes, `/run_live`, and the workbench.
 *
 * @example
 * const server = createServer({ apps: { weather: agent } })
 * const { url } = await server.listen({ port: 8000 })
 * console.log(`${url}/?token=${server.token}`)
 */
export function createServer(options: ServerOptions): ToolwrightServer {
  checkServerOptions(options)
  return new Server(options)
}

class Server implements ToolwrightServer {
  readonly #token: string | undefined
  readonly #options: ServerOptions
  readonly #parts: ServerParts
  readonly #stopped = new AbortController()
  readonly #work: ServerWork | undefined
  readonly #pruning: Pruning | undefined
  #handler: Promise<FetchHandler> | undefined
  #listening: Promise<Listening> | undefined
  #closing: Promise<void> | undefined

  static {
    showAs(Server.prototype, 'ToolwrightServer', (server) => ({ apps: Object.keys(server.#options.apps) }))
  }

  constructor(options: ServerOptions) {
    this.#options = options
    this.#token = options.authenticate ? undefined : (options.token ?? createToken())
    const limits = { ...DEFAULT_LIMITS, ...options.limits }
    const apps = new Apps(options)
    const runs = options.metrics ? new RunFigures() : undefined
    if (runs) for (const { runner } of apps.all()) runner.internals.observe(runs)
    this.#parts = {
      apps,
      options: { ...options, token: this.#token },
      limits,
      logger: options.logger ?? console,
      hosts: new AllowedHosts(options.allowedHosts),
      requestRate: new RequestRate(limits.requestsPerMinute),
      framePace: new FramePace(),
      runSlots: new RunSlots(limits.concurrentRuns),
      metrics: new Metrics(runs),
      closing: this.#stopped.signal,
    }
    if (options.recover === false) return
    this.#work = new ServerWork(this.#parts, options.recover)
    this.#pruning = options.recover?.prune && new Pruning(this.#parts, options.recover.prune)
  }

  /** The token that requests need; undefined if the server has `authenticate`. Read it: it is not printed. */
  get token(): string | undefined {
    return this.#token
  }

  /** Handles a request. */
  async fetch(request: Request): Promise<Response> {
    return (await this.#load())(request, {})
  }

  /** Listens on a port. */
  async listen({ port, host = '127.0.0.1' }: ListenOptions): Promise<{ url: string; port: number }> {
    checkBind(this.#options, host)
    if (this.#listening || this.#closing)
      throw new ToolwrightError('INVALID_CONFIG', 'listen(): a server can listen once. Create another server.')
    this.#listening = this.#open(port, host)
    try {
      const { url, port: actual } = await this.#listening
      return { url, port: actual }
    } catch (error) {
      this.#listening = undefined // the next port may be free
      throw error
    }
  }

  async #open(port: number, host: string): Promise<Listening> {
    await requirePeers({
      hono: () => import('hono'),
      '@hono/node-server': () => import('@hono/node-server'),
      ws: () => import('ws'),
    })
    const { listen } = await import('./listen.ts')
    const listening = await listen(await this.#load(), this.#parts, { port, host })
    this.#work?.start()
    this.#pruning?.start()
    return listening
  }

  /** Continues interrupted runs now. */
  async recover(): Promise<ReadonlyMap<string, number>> {
    return (await this.#work?.recover()) ?? new Map()
  }

  /** Drains and closes. Further calls wait for the first one. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { apps, limits, logger } = this.#parts
    this.#stopped.abort()
    this.#work?.close()
    this.#pruning?.close()
    const listening = await this.#listening?.catch(() => undefined) // listen() reports its error
    listening?.stopAccepting()
    const closed = apps.close({ graceMs: limits.drainMs, interrupt: true })
    const report = (): void => logger.warn('The runners were not closed in time. Their sessions are recovered later.')
    await withTimeout(Promise.allSettled([closed]), limits.drainMs + CLOSE_MS, systemPorts, report)
    await listening?.close()
  }

  #load(): Promise<FetchHandler> {
    this.#handler ??= loadPeer('hono', () => import('./build-app.ts')).then(({ buildApp }) => {
      const app = buildApp(this.#parts)
      return (request, bindings) => app.fetch(request, bindings)
    })
    return this.#handler
  }
}
