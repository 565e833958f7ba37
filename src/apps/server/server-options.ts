import type { LiveOptions } from '../../adapters/live/live-options.ts'
import type { LiveSession } from '../../adapters/live/session/live-session.ts'
import type { Agent } from '../../engine/agent/agents/agent.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { Runner } from '../../engine/runner/runner.ts'
import type { PruneOptions, RecoverOptions, RunnerOptions } from '../../engine/runner/runner-options.ts'
import type { Authenticate, MayAnswer } from './principal/principal.ts'

/** Options of `createServer()`. */
export interface ServerOptions {
  /** The apps, by name. An agent gets a runner with `services`; a runner must have the same `appName`. */
  readonly apps: { readonly [name: string]: Agent | Runner }
  /** Services, models, plugins and limits of the runners that the server makes for agents. Default: all in memory. */
  readonly services?: Omit<RunnerOptions, 'appName' | 'agent'> | undefined
  /** The live model and its options, by app. An app without one has no live sessions. */
  readonly live?: { readonly [app: string]: LiveAppOptions } | undefined
  /**
   * Who sends a request; undefined refuses it with 401. Default: requests need the token of the server, and its holder may act
   * as any user.
   */
  readonly authenticate?: Authenticate | undefined
  /** The token of the server when there is no `authenticate`. Other machines need one with 16 characters or more. Default: a random one. */
  readonly token?: string | undefined
  /** Host names, with a port if it is not the default one, under which clients reach the server. Default: those of `listen()`. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Origins of other sites whose pages may call the server, such as `https://admin.example.com`. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** The state that clients may write. Default: every key but those with the prefix `trusted:`, also after `user:`. */
  readonly clientState?: ClientStateOptions | undefined
  /**
   * Decides who may answer a pending request: approvals, inputs, consents and results of long-running calls. Default: every principal
   * that may use the session, and so the user whose agent asks.
   */
  readonly mayAnswer?: MayAnswer | undefined
  /**
   * A proxy in front of the server writes `X-Forwarded-For` and `X-Forwarded-Proto`: their last entries are the address of the client,
   * and whether it uses TLS. Default false: the headers are ignored, because any client can send them.
   */
  readonly trustProxy?: boolean | undefined
  /** Listens on a public address although the server has no `authenticate`. Default false: `listen()` refuses it. */
  readonly allowUnauthenticatedRemote?: boolean | undefined
  /** What happens to the run of a `/run_sse` request that its client closes. Default `cancel`. */
  readonly onDisconnect?: 'cancel' | 'detach' | undefined
  /**
   * Works without a caller while the server listens, as `runner.work()` does: continues interrupted runs, such as those of another
   * process that died, and answered ones, and starts what is scheduled. How often, and which. Default: all, every second. `false`: never.
   */
  readonly recover?: false | RecoverySweepOptions | undefined
  /**
   * Measures runs for `/metrics`: the metrics that `otel()` exports, with their names in the form of Prometheus. Default false: `/metrics`
   * has the figures of requests, and runs are not measured.
   */
  readonly metrics?: boolean | undefined
  /** Sizes, times and rates. */
  readonly limits?: Partial<ServerLimits> | undefined
  /** Serves `/dev`: graphs, traces, the log, and single tool calls. For developers only. Default false. */
  readonly dev?: boolean | undefined
  /**
   * Keeps the requests and replies of the latest model calls in memory, with instructions and tools, and serves them to principals that
   * may act as any user. Default: as `dev`.
   */
  readonly recordModelCalls?: boolean | undefined
  /** The folder of the built workbench, served at `/`. Default: none. */
  readonly page?: string | undefined
  /** Example messages of the apps, which the workbench offers. */
  readonly tours?: { readonly [app: string]: readonly string[] } | undefined
  /**
   * The files that export the apps. The workbench names them in the tests it writes. Default: a file of the working directory that is
   * named like the app.
   */
  readonly agentFiles?: { readonly [app: string]: string } | undefined
  /** Receives one line per failed request, with its correlation id. Default: `console`. */
  readonly logger?: Logger | undefined
}

/**
 * Which keys of the state clients may write, with a PATCH, with `stateDelta`, or in a new session. Deleting a key is writing it. Tools
 * and `runner.updateState()` write every key.
 */
export interface ClientStateOptions {
  /** The only keys that clients may write, such as `['theme', 'user:language']`. Default: all but those with the prefix `trusted:`. */
  readonly allow?: readonly string[] | undefined
  /** Keys that clients may not write. */
  readonly deny?: readonly string[] | undefined
}

/** The live model of an app, with the options of `connectLive()`. */
export type LiveAppOptions = Omit<
  LiveOptions<LiveSession>,
  'runner' | 'agent' | 'tools' | 'userId' | 'sessionId' | 'state' | 'signal' | 'runContext' | 'traceparent'
>

/** Which sessions a server deletes: the options of `runner.prune()`, and how often. */
export interface SweepPruneOptions extends Omit<PruneOptions, 'signal'> {
  /** The least time between two times, in milliseconds. Default 3,600,000. */
  readonly everyMs?: number | undefined
}

/** How a server works without a caller: the options of `runner.recover()`, and how often. */
export interface RecoverySweepOptions extends RecoverOptions {
  /**
   * How often the server asks the store for work, in milliseconds. Each time is up to a quarter earlier or later. Default 1,000. A store
   * that can be watched also says at once that there is some.
   */
  readonly everyMs?: number | undefined
  /** Which sessions are deleted meanwhile. Default: none. */
  readonly prune?: SweepPruneOptions | undefined
}

/** Limits of the server. */
export interface ServerLimits {
  /** The most bytes of a request body. Default 20 MB. */
  readonly bodyBytes: number
  /** The most bytes that wait for a slow reader of a stream. Default 1 MiB. */
  readonly streamBufferBytes: number
  /** How long a full buffer, or another response, waits for a client that reads nothing, in milliseconds. Default 5,000. */
  readonly streamStallMs: number
  /** Requests per minute of one principal, with the messages and answers of its live clients. Default 1,200. */
  readonly requestsPerMinute: number
  /** Failed authentications per minute of one address. Its further attempts are throttled. Default 60. */
  readonly failedAuthenticationsPerMinute: number
  /** Runs of one principal at the same time, and as many streams that follow runs. Default 100. */
  readonly concurrentRuns: number
  /** Sessions of one user in one app that clients may create. Default 10,000. */
  readonly sessionsPerUser: number
  /** Keys of state that clients may store in a session, and under `user:` for a user. Default 1,000. */
  readonly stateKeys: number
  /** Bytes of state that clients may store in a session, and under `user:` for a user. Default 1 MB. */
  readonly stateBytes: number
  /** The most bytes of a response that is not a stream. Default 32 MiB. */
  readonly responseBytes: number
  /** How long `close()` waits for runs, in milliseconds. Default 7,500. */
  readonly drainMs: number
  /** How long the headers of a request may take, in milliseconds. Default 15,000. */
  readonly headersTimeoutMs: number
  /** How long a whole request may take to arrive, in milliseconds. Default 60,000. */
  readonly requestTimeoutMs: number
  /** Connections at the same time. Default 10,000. */
  readonly connections: number
  /** A live client that sends nothing for this long, not even the answer to a ping, is cut off. Milliseconds. Default 30,000. */
  readonly liveSilenceMs: number
}

/** The limits of a server without `limits`. */
export const DEFAULT_LIMITS: ServerLimits = {
  bodyBytes: 20_000_000,
  streamBufferBytes: 1_048_576,
  streamStallMs: 5_000,
  requestsPerMinute: 1_200,
  failedAuthenticationsPerMinute: 60,
  concurrentRuns: 100,
  sessionsPerUser: 10_000,
  stateKeys: 1_000,
  stateBytes: 1_000_000,
  responseBytes: 33_554_432,
  drainMs: 7_500,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  connections: 10_000,
  liveSilenceMs: 30_000,
}
