// Sessions of 2025 clients over HTTP. A session belongs to the user who opened it.
import type { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Ports } from '../../../core/base/ports.ts'
import { RecentEvents } from './event-store.ts'
import type { Protocol, ProtocolPeer } from './protocol-server.ts'

/** A session without requests for this time is closed. */
const IDLE_MS = 30 * 60_000

/** The most sessions. A new one then closes the one that was idle for the longest time. */
const MAX_SESSIONS = 1_000

/** How long a client waits before it reopens a broken stream. */
const RETRY_MS = 1_000

interface HttpSession {
  readonly userId: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: McpServer
  stopTimer(): void
}

/** Options of `HttpSessions`. */
interface HttpSessionsOptions {
  /** The module of the protocol. */
  readonly protocol: Protocol
  /** Timers and ids. */
  readonly ports: Pick<Ports, 'setTimer' | 'newId'>
  /** The most bytes of a request. */
  readonly maxRequestBytes: number
  /** Creates the server of a session. */
  createServer(peer: ProtocolPeer): McpServer
}

/** The open sessions of 2025 clients. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions
  readonly #sessions: Map<string, HttpSession> = new Map()

  constructor(options: HttpSessionsOptions) {
    this.#options = options
  }

  /** Serves a request: in its session, or in a new one if it opens one. */
  async fetch(request: Request, userId: string): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return await this.#open(request, userId)
    const session = this.#sessions.get(id)
    if (!session || session.userId !== userId) return notFound()
    this.#touch(id, session)
    return await session.transport.handleRequest(request)
  }

  /** Closes all sessions and cancels their calls. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)))
  }

  async #open(request: Request, userId: string): Promise<Response> {
    const { protocol, ports, maxRequestBytes, createServer } = this.#options
    const server = createServer({ userId, era: 'legacy' })
    const transport = new protocol.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => ports.newId(),
      maxRequestBodySize: maxRequestBytes,
      eventStore: new RecentEvents(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => this.#touch(id, { userId, transport, server, stopTimer: () => {} }),
      onsessionclosed: (id) => this.#end(id),
    })
    await server.connect(transport)
    const response = await transport.handleRequest(request)
    if (transport.sessionId === undefined) await server.close() // the request did not open a session
    return response
  }

  /** Moves a session to the end of the list, and closes the first one if there are too many. */
  #touch(id: string, session: HttpSession): void {
    session.stopTimer()
    const stopTimer = this.#options.ports.setTimer(() => void this.#end(id), IDLE_MS, { background: true })
    this.#sessions.delete(id)
    this.#sessions.set(id, { ...session, stopTimer })
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) void this.#end(oldest)
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id)
    if (!session) return
    this.#sessions.delete(id)
    session.stopTimer()
    await session.server.close().catch(() => {}) // it is closed as far as it can be
  }
}

/** The same answer for a session that is unknown, closed, or of another user. */
function notFound(): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null },
    { status: 404 },
  )
}
