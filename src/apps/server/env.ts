import type { Context } from 'hono'
import type { WebSocket } from 'ws'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { Apps } from './apps.ts'
import type { AllowedHosts } from './guard/allowed-hosts.ts'
import type { FramePace } from './guard/frame-pace.ts'
import type { RequestRate } from './guard/request-rate.ts'
import type { RunSlot, RunSlots } from './guard/run-slots.ts'
import type { Metrics } from './health/metrics.ts'
import type { Principal } from './principal/principal.ts'
import type { ServerLimits, ServerOptions } from './server-options.ts'

/** What the handlers of a request share, for the types of Hono. */
export interface ServerEnv {
  /** What the host of the server passes with a request. Empty on hosts other than Node. */
  Bindings: HostBindings
  /** Values that earlier steps of the request have set. */
  Variables: {
    /** Who sends the request. */
    readonly principal: Principal
    /** Names the request in the log of the operator and in the error of the client. */
    readonly correlationId: string
    /** The value of a large body, which an earlier step has parsed; undefined for a small one. */
    readonly parsedBody: { readonly value: unknown } | undefined
    /** The place of this request among the runs of its principal; undefined for a request that runs nothing. */
    readonly runSlot: RunSlot | undefined
  }
}

/** What Node's HTTP server passes with a request. */
export interface HostBindings {
  /** The request of Node. Node's parser has checked its length. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string | undefined } }
  /** The response of Node; undefined for a WebSocket. */
  readonly outgoing?: { destroy(): void; setTimeout(ms: number): void; once(name: 'close', call: () => void): void }
  /** Accepts a WebSocket, if the request asks for one. */
  readonly acceptSocket?: (onOpen: (socket: WebSocket) => void) => void
}

/** Handles a request, with what its host knows about it. */
export type FetchHandler = (request: Request, bindings: HostBindings) => Response | Promise<Response>

/** The context of a request. */
export type RequestContext = Context<ServerEnv>

/** What the routes need from the server. */
export interface ServerParts {
  /** The apps. */
  readonly apps: Apps
  /** The options of the server. */
  readonly options: ServerOptions
  /** The limits, with defaults. */
  readonly limits: ServerLimits
  /** The `logger` of the options, or `console`. */
  readonly logger: Logger
  /** The host names under which clients reach the server. */
  readonly hosts: AllowedHosts
  /** Counts the requests of each principal, and the messages and answers of its live clients. */
  readonly requestRate: RequestRate
  /** Reads the frames of live clients. */
  readonly framePace: FramePace
  /** Counts the runs of each principal. */
  readonly runSlots: RunSlots
  /** The figures of `/metrics`. */
  readonly metrics: Metrics
  /** Aborted when `close()` is called. */
  readonly closing: AbortSignal
}
