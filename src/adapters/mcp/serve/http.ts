// Serves MCP over HTTP: finds the user, then passes the request on, by the era of the client.
import type { McpHttpHandler, McpServer } from '@modelcontextprotocol/server'
import type { Ports } from '../../../core/base/ports.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import { HttpSessions } from './http-sessions.ts'
import type { Protocol, ProtocolPeer } from './protocol-server.ts'
import type { ServeMcpOptions } from './serve-options.ts'

/** Options of `HttpServing`. */
interface HttpServingOptions extends Pick<ServeMcpOptions, 'authenticate'> {
  /** The module of the protocol. */
  readonly protocol: Protocol
  /** Timers and ids. */
  readonly ports: Pick<Ports, 'setTimer' | 'newId'>
  /** The user of requests without `authenticate`. */
  readonly localUserId: string
  /** The most bytes of a request. */
  readonly maxRequestBytes: number
  /** Do 2025 clients have sessions? */
  readonly hasSessions: boolean
  /** Receives errors for the operator. */
  readonly logger: Logger
  /** Creates the server of a request or a session. */
  createServer(peer: ProtocolPeer): McpServer
}

/** Serves both eras of the protocol over HTTP. */
export class HttpServing {
  readonly #options: HttpServingOptions
  readonly #handler: McpHttpHandler
  readonly #sessions: HttpSessions | undefined
  readonly #closed = new AbortController()

  constructor(options: HttpServingOptions) {
    const { protocol, ports, maxRequestBytes, createServer, logger, hasSessions } = options
    this.#options = options
    this.#handler = protocol.createMcpHandler(
      ({ authInfo, era }) => createServer({ userId: authInfo?.clientId ?? '', era }),
      {
        legacy: hasSessions ? 'reject' : 'stateless',
        maxRequestBodySize: maxRequestBytes,
        onerror: (error) => logger.warn(`MCP: ${error.message}`, error),
      },
    )
    this.#sessions = hasSessions ? new HttpSessions({ protocol, ports, maxRequestBytes, createServer }) : undefined
  }

  /** Serves a request. */
  async fetch(given: Request): Promise<Response> {
    if (this.#closed.signal.aborted) return refusal(503, 'The server is closed')
    const userId = await this.#userOf(given)
    if (userId instanceof Response) return userId
    const { protocol, maxRequestBytes } = this.#options
    const request = new Request(given, { signal: AbortSignal.any([given.signal, this.#closed.signal]) })
    if (
      this.#sessions &&
      (await protocol.isLegacyRequest(request, undefined, { maxRequestBodySize: maxRequestBytes }))
    ) {
      return await this.#sessions.fetch(request, userId)
    }
    const authInfo = { token: '', clientId: userId, scopes: [] }
    return await this.#handler.fetch(request, { authInfo })
  }

  /** Ends all requests and sessions. */
  async close(): Promise<void> {
    this.#closed.abort()
    await Promise.all([this.#handler.close(), this.#sessions?.close()])
  }

  /** The user of a request, or the response that refuses it. Without a token, only this machine may send requests. */
  async #userOf(request: Request): Promise<string | Response> {
    const { protocol, authenticate, localUserId, logger } = this.#options
    if (!authenticate) {
      const host = request.headers.get('host') ?? new URL(request.url).host
      const isLocal =
        protocol.validateHostHeader(host, protocol.localhostAllowedHostnames()).ok &&
        protocol.validateOriginHeader(request.headers.get('origin'), protocol.localhostAllowedOrigins()).ok
      return isLocal
        ? localUserId
        : refusal(403, 'Only requests of this machine are served. Set authenticate to serve others.')
    }
    try {
      const identity = await authenticate(request.clone())
      if (typeof identity?.userId === 'string' && identity.userId !== '') return identity.userId
    } catch (error) {
      logger.error(`authenticate of serveMcp() failed: ${messageOf(error)}`, error)
    }
    return refusal(401, 'Unauthorized', { 'www-authenticate': 'Bearer error="invalid_token"' })
  }
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status, headers })
}
