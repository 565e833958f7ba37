// A local server with the WebSocket protocol of the Gemini Live API. A test decides what the model says.
import type { AddressInfo } from 'node:net'
import { loadPeerByName } from '../../../../core/error/load-peer.ts'
import type { GeminiLiveServer, GeminiLiveServerOptions } from '../../gemini-live-script.ts'
import { readHandshake } from './handshake.ts'
import { LiveClients } from './live-clients.ts'

/** Starts a local Gemini Live server. */
export async function startLiveServer(options: GeminiLiveServerOptions): Promise<GeminiLiveServer> {
  // the package has these exports in every version that the peer range allows
  const { WebSocketServer } = (await loadPeerByName('ws')) as typeof import('ws')
  const { apiKey } = options
  const clients = new LiveClients(options)
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    // Vertex AI checks the token before it accepts the WebSocket
    verifyClient: ({ req }, answer) => {
      const { isVertex, keys } = readHandshake(req)
      const isAccepted = !isVertex || (apiKey === undefined ? keys.length > 0 : keys.includes(apiKey))
      answer(isAccepted, 401, 'Unauthorized')
    },
  })
  server.on('connection', (socket, request) => clients.add(socket, readHandshake(request)))
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject))

  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= new Promise<void>((resolve) => {
      clients.queue.end()
      server.close(() => resolve())
      for (const client of server.clients) client.terminate()
    })
    return closed
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: clients.connections,
    problems: clients.problems,
    conversations: clients.conversations,
    nextConnection: () => clients.queue.next(),
    close,
    [Symbol.asyncDispose]: close,
  }
}
