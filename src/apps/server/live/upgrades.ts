// WebSockets. An upgrade passes the same steps as every request: host, origin, principal, limits. Only a route can accept it.
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { FetchHandler } from '../env.ts'

/** The WebSockets of a server. */
export interface SocketUpgrades {
  /** Asks all clients to leave: the server is stopping. */
  close(): void
  /** Closes all connections. */
  terminate(): void
}

/** The most bytes of one message. */
const MAX_MESSAGE_BYTES = 1_048_576

/** The code that tells a client that the server is stopping. */
const GOING_AWAY = 1001

/** Passes upgrades to the request handler. */
export function handleUpgrades(server: Server, fetch: FetchHandler): SocketUpgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    allowSynchronousEvents: false, // thousands of frames and pings fit into one read of a connection
    autoPong: false, // `SocketLink` answers pings, within the limit of its buffer
  })
  /** Open connections. Node no longer counts them as connections of the HTTP server, and its timeouts do not end them. */
  const connections = new Set<Duplex>()
  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', () => {}) // the client is gone
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    void upgrade(incoming, socket, fetch).then((onOpen) => {
      if (onOpen && !socket.destroyed) sockets.handleUpgrade(incoming, socket, head, onOpen)
    })
  })
  return {
    close: () => {
      for (const socket of sockets.clients) socket.close(GOING_AWAY, 'The server is stopping.')
    },
    terminate: () => {
      for (const socket of connections) socket.destroy()
    },
  }
}

/** What to do with the open socket; undefined if the upgrade was refused, and answered. */
async function upgrade(
  incoming: IncomingMessage,
  socket: Duplex,
  fetch: FetchHandler,
): Promise<((socket: WebSocket) => void) | undefined> {
  const accepted: { onOpen?: (socket: WebSocket) => void } = {}
  const acceptSocket = (onOpen: (socket: WebSocket) => void): void => {
    accepted.onOpen = onOpen
  }
  try {
    const response = await fetch(requestOf(incoming), { incoming, acceptSocket })
    if (accepted.onOpen) return accepted.onOpen
    await refuse(socket, response)
  } catch {
    await refuse(socket, new Response(null, { status: 400 })) // the request has no valid URL
  }
  return undefined
}

function requestOf({ url = '', headers, rawHeaders }: IncomingMessage): Request {
  if (!url.startsWith('/')) throw new Error('The request line has a whole URL.')
  const copied = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) copied.append(String(rawHeaders[at]), String(rawHeaders[at + 1]))
  return new Request(`http://${headers.host}${url}`, { headers: copied })
}

async function refuse(socket: Duplex, response: Response): Promise<void> {
  if (socket.destroyed) return
  // a route that answers without accepting does not know WebSockets
  const status = response.ok ? 400 : response.status
  const body = response.ok ? '' : await response.text()
  if (response.ok) await response.body?.cancel() // it may be a stream
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    `Content-Type: ${response.headers.get('content-type') ?? 'text/plain'}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  // a client that keeps its side open would hold the connection for ever
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
