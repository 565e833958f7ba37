import {
  anything,
  callback,
  callbacks,
  checkOptions,
  flag,
  list,
  name,
  type OptionRules,
  text,
  wholeNumber,
} from '../../../core/error/check-options.ts'
import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { isAgent } from '../../../engine/agent/agents/agent.ts'
import type { RunContext } from '../../../engine/context/run-context.ts'
import type { RunnerOptions } from '../../../engine/runner/runner-options.ts'
import type { CallCallbacks } from '../../../engine/runner/single-call/call-runner.ts'
import type { ToolSource } from '../../../engine/tool/tool-source.ts'

/** The user of an HTTP request. */
export interface McpIdentity {
  /** The user the tools act for. */
  readonly userId: string
}

/** Options of `serveMcp()`: what to serve, for whom, and the services and limits of the runner. */
export interface ServeMcpOptions
  extends Omit<RunnerOptions, 'appName' | 'agent' | 'whilePaused' | 'media' | 'phases' | 'engine' | 'limits'>,
    CallCallbacks {
  /** Tools, toolsets and tool sources. Toolsets and sources are listed for each user. */
  readonly tools?: readonly ToolSource[] | undefined
  /** Agents. Each is a tool under its own name that takes `{ request }`, or its `inputSchema`, and returns its answer. */
  readonly agents?: readonly Agent[] | undefined
  /** The name that clients see, and the app of the sessions. Default `toolwright`. */
  readonly name?: string | undefined
  /** The version that clients see. Default `1.0.0`. */
  readonly version?: string | undefined
  /** How to use the server, for the client's model. Default: none. */
  readonly instructions?: string | undefined
  /**
   * Returns the user of an HTTP request, from its token. Undefined refuses the request with 401. Default: HTTP serves this
   * machine only, as `userId`.
   */
  readonly authenticate?: ((request: Request) => McpIdentity | undefined | Promise<McpIdentity | undefined>) | undefined
  /** The user of stdio, and of HTTP without `authenticate`. Default `local`. */
  readonly userId?: string | undefined
  /** Returns the `runContext` of the calls of a user. Default: none. */
  readonly runContext?: ((identity: McpIdentity) => RunContext | Promise<RunContext>) | undefined
  /**
   * Seals the state that a client holds while a call waits for an answer: base64 of 32 bytes. Set it, and a stored
   * `sessionService`, if another process may get the answer. Default: a random key.
   */
  readonly stateKey?: string | undefined
  /** How long a client may take to answer, in milliseconds. Default one hour. */
  readonly stateTtlMs?: number | undefined
  /** How long a call waits for a sign-in that the user has started, in milliseconds. Default 120,000. */
  readonly consentWaitMs?: number | undefined
  /**
   * Keeps a session for each 2025 client over HTTP, so that a call can ask the user of such a client. All requests of a
   * session must reach this process. Default false: each request stands alone.
   */
  readonly httpSessions?: boolean | undefined
  /** The most bytes of an HTTP request or a line of stdio. Default 4 MiB. */
  readonly maxRequestBytes?: number | undefined
  /** `await import('@modelcontextprotocol/server')`, for a bundle in one file. Default: the package is loaded when needed. */
  readonly library?: object | undefined
}

const RULES: OptionRules<ServeMcpOptions> = {
  tools: list,
  agents: { expects: 'a list of agents', accepts: (value) => Array.isArray(value) && value.every(isAgent) },
  name,
  version: name,
  instructions: text,
  authenticate: callback,
  userId: name,
  runContext: callback,
  stateKey: text,
  stateTtlMs: wholeNumber(1),
  consentWaitMs: wholeNumber(0),
  httpSessions: flag,
  maxRequestBytes: wholeNumber(1),
  library: anything,
  beforeTool: callbacks,
  afterTool: callbacks,
  onToolError: callbacks,
  sessionService: anything,
  artifactService: anything,
  memoryService: anything,
  scheduleService: anything,
  limitService: anything,
  workerService: anything,
  credentialService: anything,
  credentialExchangers: anything,
  allowedRedirectUris: anything,
  plugins: anything,
  observers: anything,
  model: anything,
  models: anything,
  toolTimeoutMs: anything,
  agentToolTimeoutMs: anything,
  maxResultBytes: anything,
  maxArgsBytes: anything,
  maxCallsPerReply: anything,
  logger: anything,
  ports: anything,
}

/** Checks the options of `serveMcp()`. The runner checks its own. */
export function checkServeOptions(options: ServeMcpOptions): void {
  checkOptions('serveMcp()', options, RULES)
}

const LISTEN_RULES: OptionRules<{ port: number; host?: string | undefined }> = { port: wholeNumber(0), host: name }

/** Throws INVALID_CONFIG if the options of `listen()` are invalid. */
export function checkListenOptions(options: unknown): void {
  checkOptions('listen()', options, LISTEN_RULES)
}
