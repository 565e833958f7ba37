import type { Client, ClientOptions, ElicitResult, Transport } from '@modelcontextprotocol/client'
import { systemPorts } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { Model } from '../../../engine/model/model.ts'
import { NEW_SESSION_MS, PING_MS, TERMINATE_MS } from '../limits.ts'
import type { HttpConnection, StdioConnection } from '../mcp-toolset-options.ts'
import { type ActiveCall, ActiveCalls } from './active-calls.ts'
import { GuardedFetch } from './guarded-fetch.ts'
import { type Era, openClient } from './open-client.ts'
import { refusalOf } from './refusal.ts'

/** How a connection is opened. */
interface ConnectionOptions {
  /** How to reach the server. */
  readonly server: StdioConnection | HttpConnection
  /** How long connecting may take, in milliseconds. */
  readonly timeoutMs: number
  /** The protocol of an earlier connection. */
  readonly era: Era | undefined
  /** The model for sampling requests; undefined turns sampling off. */
  readonly sampling: Model | undefined
  /** Headers of the first requests. */
  readonly headers: Readonly<Record<string, string>>
  /** What other connections of the toolset have learned about lost sessions. Default: nothing. */
  readonly suspicion?: SessionSuspicion | undefined
}

/** What the connections of a toolset have learned about lost sessions. */
export interface SessionSuspicion {
  /** Has a session been given up although the server still knew it? Then the server is believed. */
  wasWrong: boolean
}

const READ_TIMEOUT_MS = 300_000

/** The answer to an elicitation that no call can be asked for. */
const DECLINED: ElicitResult = { action: 'decline' }

/** A connection to an MCP server for one identity. */
export class McpConnection {
  /** The MCP client. */
  readonly client: Client
  /** The protocol of the connection. */
  readonly era: Era
  /** The fetch function of the connection. A local server does not use it. */
  readonly http: GuardedFetch
  /** Does the connection send HTTP requests? */
  readonly isHttp: boolean
  readonly #transport: Transport
  readonly #calls: ActiveCalls
  readonly #terminates: boolean
  readonly #suspicion: SessionSuspicion
  /** How many requests the server had answered when the connection was open. */
  readonly #answersBefore: number
  readonly #openedAt: number = performance.now()
  #isOpen: boolean
  #isAbandoned = false
  #changes = 0
  /** Performance time of the last use, in milliseconds. */
  lastUsed: number = performance.now()

  private constructor(made: {
    client: Client
    era: Era
    http: GuardedFetch
    transport: Transport
    calls: ActiveCalls
    terminates: boolean
    isHttp: boolean
    suspicion: SessionSuspicion
  }) {
    this.#suspicion = made.suspicion
    this.#answersBefore = made.http.answers
    this.client = made.client
    this.era = made.era
    this.http = made.http
    this.isHttp = made.isHttp
    this.#transport = made.transport
    this.#calls = made.calls
    this.#terminates = made.terminates
    this.#isOpen = made.client.transport !== undefined // it may have died after the handshake
    made.client.onclose = () => {
      this.#isOpen = false
    }
  }

  /** Connects to the server. */
  static async open(options: ConnectionOptions): Promise<McpConnection> {
    const { server, timeoutMs, era, sampling, headers, suspicion = { wasWrong: false } } = options
    const isHttp = server.type !== 'stdio'
    const { fetch, readTimeoutMs = READ_TIMEOUT_MS } = isHttp ? server : {}
    const http = new GuardedFetch({ fetch, readTimeoutMs })
    http.setHeaders(headers)
    const calls = new ActiveCalls()
    let connection: McpConnection | undefined
    const onChanged = (): void => {
      if (connection) connection.#changes++
    }
    const client: ClientOptions = {
      capabilities: {
        elicitation: { form: { applyDefaults: true }, url: {} },
        ...(sampling && { sampling: {} }),
      },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      // results are validated by our own validator: the default one generates code from the schemas of the server
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    }
    const prepare = (made: Client): void => {
      made.onerror = () => {} // requests that fail report it themselves
      made.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
        const call = await calls.findAsking()
        return (await call?.elicit(params, mcpReq.signal)) ?? DECLINED
      })
      if (!sampling) return
      made.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
        const call = await calls.findAsking()
        if (!call) throw new Error('No tool call of this client is under way.')
        return await call.sample(params, mcpReq.signal)
      })
    }
    const opened = await openClient({ server, http, era, timeoutMs, client, prepare }).catch((error) => {
      const refusal = http.takeRefusal()
      throw refusal ? new RefusedError(refusal.status, refusal.challenge, error) : error
    })
    const terminates = isHttp && server.type === 'http' && server.terminateOnClose !== false
    connection = new McpConnection({ ...opened, http, calls, terminates, isHttp, suspicion })
    return connection
  }

  /** Is the connection open? A connection that has died is never used again. */
  get isOpen(): boolean {
    return this.#isOpen
  }
  /** Has the server opened a session for the connection? Only then can it lose one. */
  get hasSession(): boolean {
    return this.#transport.sessionId !== undefined
  }
  /** Is a call under way? */
  get isBusy(): boolean {
    return this.#calls.size > 0
  }
  /** Was the connection given up, while the server may still be there? */
  get isAbandoned(): boolean {
    return this.#isAbandoned
  }
  /** How often the server has reported that its tools have changed. */
  get changes(): number {
    return this.#changes
  }

  /** Registers a call, so that the server can ask it for input. The returned function removes it. */
  begin(call: ActiveCall): (isAnswered: boolean) => void {
    this.#calls.add(call)
    return (isAnswered) => {
      this.#calls.delete(call, isAnswered)
      this.lastUsed = performance.now()
      if (this.#isAbandoned && !this.isBusy) void this.#disconnect()
    }
  }

  /**
   * Has the server lost the session? It is asked after a refusal that has other causes, too. If it still answers after a status
   * 400, the session is given up once for each toolset: some servers lose a session only for some requests. After that, and after
   * other refusals, the server is believed. A session that is new and has never answered is not lost: another one would be like it.
   */
  async isSessionLost(refusal: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#isOpen) return true // another request has found out
    const hasAnswered = this.http.answers > this.#answersBefore
    if (!hasAnswered && performance.now() - this.#openedAt < NEW_SESSION_MS) return false
    const answer = await this.client
      .ping({ timeout: PING_MS, ...(signal && { signal }) })
      .then(() => undefined, refusalOf)
    if (!this.#isOpen || answer === 400 || answer === 404 || answer === refusal) return true
    if (refusal !== 400 || this.#suspicion.wasWrong) return false
    this.#suspicion.wasWrong = true
    return true
  }

  /** Marks the connection as dead, so that the next use opens another one. It is closed when no call uses it. */
  async abandon(): Promise<void> {
    this.#isOpen = false
    this.#isAbandoned = true
    if (!this.isBusy) await this.#disconnect()
  }

  async #disconnect(): Promise<void> {
    await this.client.close().catch(() => {})
    await this.#transport.close().catch(() => {})
  }

  /** Closes the connection, and the session at the server. */
  async close(): Promise<void> {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    const session = this.#transport as Transport & { terminateSession?(): Promise<void> }
    if (wasOpen && this.#terminates && session.terminateSession) {
      const ending = session.terminateSession().catch(() => {})
      await withTimeout(ending, TERMINATE_MS, systemPorts, () => {}) // closing aborts the request
    }
    await this.#disconnect()
  }
}

/** The server has refused the credential, or the lack of one. */
export class RefusedError extends Error {
  /** 401 or 403. */
  readonly status: number
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined
  constructor(status: number, challenge: string | undefined, cause?: unknown) {
    super(`it refused the request with status ${status}`, { cause })
    this.status = status
    this.challenge = challenge
  }
}
