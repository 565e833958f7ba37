import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { loadPeerByName } from '../../../core/error/load-peer.ts'

/** A listening HTTP server. */
export interface Listening {
  /** The address of the MCP endpoint. */
  readonly url: string
  /** The port. */
  readonly port: number
}

/** The path of the MCP endpoint. */
const PATH = '/mcp'

/** A request must arrive within this time, in milliseconds. */
const REQUEST_TIMEOUT_MS = 60_000
const HEADERS_TIMEOUT_MS = 15_000
const MAX_HEADER_BYTES = 16_384

/** Listens for HTTP requests. Resolves when the port is open. */
export async function listenHttp(
  fetch: (request: Request) => Promise<Response>,
  { port, host, maxRequestBytes }: { port: number; host: string; maxRequestBytes: number },
): Promise<Listening & { close(): Promise<void> }> {
  // neither is imported: a bundle that only uses fetch() must not need them
  const { createServer } = process.getBuiltinModule('node:http')
  type Adapter = typeof import('@modelcontextprotocol/node')
  const { toNodeHandler } = (await loadPeerByName('@modelcontextprotocol/node')) as Adapter
  const serve = toNodeHandler({ fetch }, { maxRequestBodySize: maxRequestBytes })
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    if (request.url?.split('?')[0] === PATH) return void serve(request as NodeIncomingMessageLike, response)
    response.writeHead(404).end()
  })
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = HEADERS_TIMEOUT_MS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: actual } = server.address() as AddressInfo // a TCP server that listens has one
  const shown = host.includes(':') ? `[${host}]` : host
  return { url: `http://${shown}:${actual}${PATH}`, port: actual, close: () => closeServer(server) }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
