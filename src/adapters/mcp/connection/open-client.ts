// Connects an MCP client to a server. The 2026-07-28 protocol is tried first; if that fails in any way, the 2025 handshake
// follows.
import type { Client, ClientOptions, Transport } from '@modelcontextprotocol/client'
import { systemPorts } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { HttpConnection, StdioConnection } from '../mcp-toolset-options.ts'
import { loadMcpClient, type McpClientLibrary } from '../oauth/mcp-client-library.ts'
import { ServerProcess } from '../stdio.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import { limitServerRequests } from './server-requests.ts'

/** The protocol of a connection: `modern` is 2026-07-28, `legacy` is the 2025 handshake. */
export type Era = 'modern' | 'legacy'

/** How to connect. */
interface OpenOptions {
  /** How to reach the server. */
  readonly server: StdioConnection | HttpConnection
  /** The fetch function of the connection. */
  readonly http: GuardedFetch
  /** The protocol of an earlier connection, which is not tried again. */
  readonly era: Era | undefined
  /** How long connecting may take, in milliseconds. */
  readonly timeoutMs: number
  /** Creates the options of the client. */
  readonly client: ClientOptions
  /** Called before the handshake, to add handlers. */
  prepare(client: Client): void
}

/** A connected client. */
interface OpenedClient {
  /** The client. */
  readonly client: Client
  /** Its transport. */
  readonly transport: Transport
  /** The protocol that the server speaks. */
  readonly era: Era
}

/** Connects. Closes everything it started if it fails. */
export async function openClient(options: OpenOptions): Promise<OpenedClient> {
  const sdk = await loadMcpClient()
  const start = performance.now()
  const remaining = (): number => Math.max(1, Math.ceil(options.timeoutMs - (performance.now() - start)))
  const mayBeModern = options.era !== 'legacy' && options.server.type !== 'sse'
  if (mayBeModern) {
    try {
      return await connect(sdk, 'auto', options, remaining())
    } catch (error) {
      // a refusal is final, and without time left a second attempt cannot succeed
      if (options.http.hasRefusal || remaining() <= 1) throw error
    }
  }
  return await connect(sdk, 'legacy', options, remaining())
}

async function connect(
  sdk: McpClientLibrary,
  mode: 'auto' | 'legacy',
  options: OpenOptions,
  timeoutMs: number,
): Promise<OpenedClient> {
  const transport = createTransport(sdk, options)
  limitServerRequests(transport)
  // half of the time is left for the 2025 handshake
  const versionNegotiation = { mode, probe: { timeoutMs: Math.ceil(timeoutMs / 2) } }
  const client = new sdk.Client({ name: 'toolwright', version: '1' }, { ...options.client, versionNegotiation })
  options.prepare(client)
  try {
    const connecting = client.connect(transport, { timeout: timeoutMs })
    connecting.catch(() => {})
    await withTimeout(connecting, timeoutMs, systemPorts, () => {
      throw new Error(`it did not answer within ${timeoutMs} ms. Raise connectTimeoutMs if it needs longer to start`)
    })
    client.onerror = (error) => {
      // the stream of the older transport is lost: it would connect again, but the answers of open calls are gone
      if (error instanceof sdk.SseError) void client.close().catch(() => {})
    }
    return { client, transport, era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy' }
  } catch (error) {
    const reported = withReport(error, transport)
    await client.close().catch(() => {})
    await transport.close().catch(() => {}) // the event source of a failed SSE connection would retry for ever
    throw reported
  }
}

/** Adds what a local server has printed before it ended. */
function withReport(error: unknown, transport: Transport): unknown {
  const { report } = transport as { report?: string }
  return report ? new Error(`${messageOf(error).replace(/\.$/, '')}. ${report}`, { cause: error }) : error
}

function createTransport(sdk: McpClientLibrary, { server, http }: OpenOptions): Transport {
  if (server.type === 'stdio') {
    const { command, args = [], env = {}, cwd } = server
    return new ServerProcess({ command, args, env, cwd })
  }
  const url = new URL(server.url)
  // the transports follow a redirect only within the origin, so that no credential reaches another one
  if (server.type === 'sse') return new sdk.SSEClientTransport(url, { fetch: http.fetch })
  return new sdk.StreamableHTTPClientTransport(url, { fetch: http.fetch, onInsufficientScope: 'throw' })
}
