import type { McpServer } from '@modelcontextprotocol/server'
import { loadPeer } from '../../error/load-peer.ts'

/** A connection over standard input and output. */
export interface StdioConnection {
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>
  /** Ends the connection. */
  close(): Promise<void>
}

/** Serves one client over standard input and output, in the era that the client opens with. */
export async function serveStdio(
  createServer: () => McpServer,
  { maxRequestBytes, onError }: { maxRequestBytes: number; onError: (error: Error) => void },
): Promise<StdioConnection> {
  const { serveStdio: serve, StdioServerTransport } = await loadPeer(
    '@modelcontextprotocol/server',
    () => import('@modelcontextprotocol/server/stdio'),
  )
  const transport = new StdioServerTransport(undefined, undefined, { maxBufferSize: maxRequestBytes })
  const handle = serve(createServer, { transport, onerror: onError })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { onclose } = transport
  transport.onclose = () => {
    onclose?.()
    resolve()
  }
  return { closed, close: () => handle.close() }
}
