import type { McpServer } from '@modelcontextprotocol/server'
import { loadPeerByName } from '../../../core/error/load-peer.ts'

/** A connection over standard input and output. */
export interface StdioConnection {
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>
  /** Ends the connection. */
  close(): Promise<void>
}

/** The streams of a connection. Default: standard input and output. */
export interface StdioStreams {
  /** A readable stream of Node. */
  readonly input?: object | undefined
  /** A writable stream of Node. */
  readonly output?: object | undefined
}

/** Serves one client over standard input and output, in the era that the client opens with. */
export async function serveStdio(
  createServer: (era: 'legacy' | 'modern') => McpServer,
  { input, output }: StdioStreams,
  { maxRequestBytes, onError }: { maxRequestBytes: number; onError: (error: Error) => void },
): Promise<StdioConnection> {
  // by name: a bundle that only uses fetch() must not need standard input and output
  type Stdio = typeof import('@modelcontextprotocol/server/stdio')
  const loaded = (await loadPeerByName('@modelcontextprotocol/server/stdio')) as Stdio
  const { serveStdio: serve, StdioServerTransport } = loaded
  type Streams = ConstructorParameters<Stdio['StdioServerTransport']>
  const transport = new StdioServerTransport(input as Streams[0], output as Streams[1], {
    maxBufferSize: maxRequestBytes,
  })
  const handle = serve(({ era }) => createServer(era), { transport, onerror: onError })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { onclose } = transport
  transport.onclose = () => {
    onclose?.()
    resolve()
  }
  return { closed, close: () => handle.close() }
}
