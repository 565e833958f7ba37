// Real MCP clients for the tests of serveMcp().
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { type McpService, serveMcp } from './serve-mcp.ts'
import type { ServeMcpOptions } from './serve-options.ts'

/** The eras of the protocol. */
export type Era = '2025' | '2026'

/** The answer of a test client to an elicitation. */
export type Elicit = (params: Record<string, unknown>) => { action: 'accept' | 'decline' | 'cancel'; content?: object }

/** A logger that drops everything. */
export const silent: { warn(): void; error(): void } = { warn: () => {}, error: () => {} }

/** Starts a server on a free port. It closes when the test ends. */
export async function startServer(options: ServeMcpOptions): Promise<McpService & { readonly url: string }> {
  const server = serveMcp({ logger: silent, ...options })
  onTestFinished(() => server.close())
  const { url } = await server.listen({ port: 0 })
  return Object.assign(server, { url })
}

/** Creates a client of an era. With `elicit` it can ask its user. */
function createClient(era: Era, elicit?: Elicit): Client {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: elicit ? { elicitation: { form: {}, url: {} } } : {},
      versionNegotiation: { mode: era === '2026' ? { pin: '2026-07-28' } : 'legacy' },
    },
  )
  if (elicit) {
    client.setRequestHandler(
      'elicitation/create',
      (request) => elicit(request.params as Record<string, unknown>) as never,
    )
  }
  onTestFinished(() => client.close())
  return client
}

/** Connects a client over HTTP. */
export async function connect(
  url: string,
  { era, elicit, token }: { era: Era; elicit?: Elicit; token?: string },
): Promise<Client> {
  const client = createClient(era, elicit)
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

/** Sends a 2026-07-28 request without a client. */
export async function post(
  url: string,
  params: Record<string, unknown>,
  { method = 'tools/call', headers = {}, meta = {}, id = 1 }: PostOptions = {},
): Promise<{ status: number; body: PostBody }> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    ...meta,
  }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
  })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : {} }
}

/** Options of `post`. */
interface PostOptions {
  /** Default `tools/call`. */
  readonly method?: string
  /** More headers. */
  readonly headers?: Record<string, string>
  /** More metadata. */
  readonly meta?: Record<string, unknown>
  /** The id of the request. */
  readonly id?: number | string
}

/** The body of a response. */
export interface PostBody {
  /** The result. */
  readonly result?: {
    readonly resultType?: string
    readonly requestState?: string
    readonly inputRequests?: Record<string, { params: Record<string, unknown> }>
    readonly content?: { type: string; text?: string }[]
    readonly isError?: boolean
  }
  /** The error. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}
