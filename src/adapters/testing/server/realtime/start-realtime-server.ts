// A local server with the handshake and the events of OpenAI's Realtime API. Tests decide what the model says.
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { ToolwrightError } from '../../../../core/error/error.ts'
import { loadPeerByName } from '../../../../core/error/load-peer.ts'
import { Arrivals } from '../../arrivals.ts'
import type {
  OpenAiRealtimeConnection,
  OpenAiRealtimeServer,
  OpenAiRealtimeServerOptions,
} from '../../openai-realtime-connection.ts'
import { type ConnectionOptions, serveConnection } from './server-connection.ts'

/** Starts the server. */
export async function startRealtimeServer(options: OpenAiRealtimeServerOptions): Promise<OpenAiRealtimeServer> {
  const { createServer } = nodeHttp()
  const { WebSocketServer } = (await loadPeerByName('ws')) as typeof import('ws') // the package has these exports
  const sockets = new WebSocketServer({ noServer: true })
  const problems: string[] = []
  const connections = new Arrivals<OpenAiRealtimeConnection>()

  const server = createServer((request, response) => {
    const status = refusalOf(request, options) ?? 426
    response.writeHead(status, { 'content-type': 'application/json' }).end(errorBody(status))
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = refusalOf(request, options)
    if (status !== undefined) return refuseUpgrade(socket, status)
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = serveConnection(webSocket, {
        ...readHandshake(request, problems),
        acceptsSetup: options.setup !== 'ignore',
        report: (problem) => void problems.push(problem),
      })
      options.onConnection?.(connection)
      connections.add(connection)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const ended = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
    await ended
  }
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: connections.all,
    problems,
    nextConnection: () => connections.next(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function readHandshake(
  { headers, url }: IncomingMessage,
  problems: string[],
): Pick<ConnectionOptions, 'headers' | 'query'> {
  const { searchParams } = new URL(url ?? '/', 'http://localhost')
  if (!searchParams.get('model')) problems.push('The URL has no model')
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    query: Object.fromEntries(searchParams),
  }
}

/** The status of a refused request. Undefined if the key is valid. */
function refusalOf({ headers }: IncomingMessage, { apiKey }: OpenAiRealtimeServerOptions): number | undefined {
  const key = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
  return key === undefined || (apiKey !== undefined && key !== apiKey) ? 401 : undefined
}

function refuseUpgrade(socket: Duplex, status: number): void {
  const body = errorBody(status)
  socket.end(
    `HTTP/1.1 ${status} Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  )
}

function errorBody(status: number): string {
  const error =
    status === 401
      ? { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' }
      : { message: 'Connect with a WebSocket.', type: 'invalid_request_error', code: 'upgrade_required' }
  return JSON.stringify({ error })
}

/** Loads `node:http` without an import: bundlers for browsers and workers fail on every `node:` import. */
function nodeHttp(): typeof import('node:http') {
  const http = globalThis.process?.getBuiltinModule?.('node:http')
  if (http) return http
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'openaiRealtimeServer() needs node:http, which this runtime does not have. Run the test in Node 22.18 or newer.',
  )
}
