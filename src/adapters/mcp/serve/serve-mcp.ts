import { withSystemPorts } from '../../../core/base/ports.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { loadPeerByName } from '../../../core/error/load-peer.ts'
import { agentTool } from '../../../engine/agent/agents/agent-tool.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import { HttpServing } from './http.ts'
import { type Listening, listenHttp } from './listen.ts'
import { PendingSessions } from './pending-sessions.ts'
import { headerToolsOf, type Protocol, type ProtocolOptions, protocolServer } from './protocol-server.ts'
import { RequestStates } from './request-state.ts'
import { checkListenOptions, checkServeOptions, type ServeMcpOptions } from './serve-options.ts'
import { ServedCalls } from './served-calls.ts'
import { type StdioStreams, serveStdio } from './stdio.ts'

/** The name of the agent that makes the calls of MCP clients, in the event log. */
const AGENT_NAME = 'mcp'

/** The host names and addresses of this machine that `listen()` binds without `authenticate`. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/** An MCP server. */
export interface McpService {
  /** Runs the calls. Lists and answers their pending requests. */
  readonly runner: Runner
  /** Serves one client over standard input and output, or other streams. Resolves when the client has disconnected. */
  stdio(streams?: StdioStreams): Promise<void>
  /** Serves one HTTP request, of a server of your own. */
  fetch(request: Request): Promise<Response>
  /** Listens for HTTP requests at `/mcp`. `port` 0 takes a free one. Default host `127.0.0.1`. */
  listen(options: { port: number; host?: string | undefined }): Promise<Listening>
  /** Cancels all calls, ends all connections and closes the toolsets. */
  close(): Promise<void>
  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Serves tools and agents to MCP clients. Every call goes through the dispatcher, so gates, policies and records apply. A
 * call that needs an approval, an input or a sign-in asks the user of the client.
 *
 * @example
 * await serveMcp({ name: 'weather', tools: [getWeather] }).stdio()
 */
export function serveMcp(options: ServeMcpOptions): McpService {
  checkServeOptions(options)
  return new Serving(options)
}

class Serving implements McpService {
  readonly runner: Runner
  readonly #options: ServeMcpOptions
  readonly #calls: CallRunner
  readonly #shared: ProtocolOptions
  readonly #closers = new Set<() => Promise<void>>()
  #http: Promise<HttpServing> | undefined
  #closing: Promise<void> | undefined

  constructor(options: ServeMcpOptions) {
    const { tools = [], agents = [], name = 'toolwright', version = '1.0.0', instructions, ...rest } = options
    const { authenticate: _, userId, runContext, stateKey, stateTtlMs = 3_600_000, ...more } = rest
    const { consentWaitMs = 120_000, httpSessions: _2, maxRequestBytes: _3, ...services } = more
    const ports = withSystemPorts(options.ports)
    this.#options = options
    this.#calls = new CallRunner({
      ...services,
      appName: name,
      agentName: AGENT_NAME,
      callerId: ports.newId(), // each call has a session of its own
      tools: [...tools, ...agents.map((agent) => agentTool(agent))],
    })
    this.runner = this.#calls.runner
    const calls = this.#calls
    const sessions = options.sessionService ? undefined : new PendingSessions(calls)
    const states = new RequestStates(stateKey, ports.now)
    this.#shared = {
      info: { name, version },
      instructions,
      headerTools: headerToolsOf(calls.fixedTools.values()),
      served: new ServedCalls({ calls, states, sessions, ports, stateTtlMs, consentWaitMs }),
      logger: options.logger ?? console,
      runContextOf: (user) => runContext?.({ userId: user }),
    }
  }

  async stdio(streams: StdioStreams = {}): Promise<void> {
    const protocol = await loadProtocol(this.#options)
    const { userId = 'local', maxRequestBytes = DEFAULT_BYTES } = this.#options
    const { closed, close } = await serveStdio(
      (era) => protocolServer(protocol, this.#shared, { userId, era }),
      streams,
      {
        maxRequestBytes,
        onError: (error) => this.#shared.logger.warn(`MCP: ${error.message}`, error),
      },
    )
    this.#closers.add(close)
    await closed
    this.#closers.delete(close)
  }

  async fetch(request: Request): Promise<Response> {
    return await (await this.#serveHttp()).fetch(request)
  }

  async listen(options: { port: number; host?: string | undefined }): Promise<Listening> {
    checkListenOptions(options)
    const { port, host = '127.0.0.1' } = options
    if (!this.#options.authenticate && !LOOPBACK.has(host)) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `listen() on host "${host}" needs authenticate: without it, everyone who reaches the port acts as one user. Set authenticate, or listen on 127.0.0.1.`,
      )
    }
    const http = await this.#serveHttp()
    const { maxRequestBytes = DEFAULT_BYTES } = this.#options
    const {
      url,
      port: actual,
      close,
    } = await listenHttp((request) => http.fetch(request), { port, host, maxRequestBytes })
    this.#closers.add(close)
    return { url, port: actual }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const http = await this.#http?.catch(() => undefined)
    await http?.close()
    await Promise.all([...this.#closers].map((close) => close()))
    await this.#shared.served.close()
    await this.#calls.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #serveHttp(): Promise<HttpServing> {
    this.#http ??= this.#createHttp()
    return this.#http
  }

  async #createHttp(): Promise<HttpServing> {
    const protocol = await loadProtocol(this.#options)
    const {
      authenticate,
      userId = 'local',
      httpSessions = false,
      maxRequestBytes = DEFAULT_BYTES,
      ports,
    } = this.#options
    return new HttpServing({
      protocol,
      authenticate,
      ports: withSystemPorts(ports),
      localUserId: userId,
      maxRequestBytes,
      hasSessions: httpSessions,
      logger: this.#shared.logger,
      createServer: (peer) => protocolServer(protocol, this.#shared, peer),
    })
  }
}

const DEFAULT_BYTES = 4 * 1024 * 1024

/** The package that speaks the protocol. Bundlers do not see this import, so that a bundle of `McpToolset` does not need it. */
async function loadProtocol({ library }: ServeMcpOptions): Promise<Protocol> {
  return (library ?? (await loadPeerByName('@modelcontextprotocol/server'))) as Protocol
}
