// The hostile MCP server over HTTP: Streamable HTTP, or the older transport with server-sent events. It runs in the process
// of the test, so that the test sees every request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Behaviour, type Memory, type Message, newMemory, type Peer, receive } from './peer.ts'

/** One HTTP request. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The message of a POST. */
  readonly message: Message | undefined
  /** What the server remembers. */
  readonly memory: Memory
}

/** A behaviour on the level of HTTP. */
export interface HttpBehaviour extends Behaviour {
  /** Handles a request. Returns true if the honest server must not. */
  http?(exchange: Exchange): boolean
}

/** A running server. */
export interface HostileHttpServer extends AsyncDisposable {
  readonly url: string
  readonly memory: Memory
  /** The headers of every request, with method and path. */
  readonly requests: { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers'] }[]
  /** How many connections were made. */
  connections: number
  /** How many connections are open now. */
  open(): number
}

/** Starts a server on the loopback interface. */
export async function startHttp(
  behaviour: HttpBehaviour,
  { kind = 'http', host = '127.0.0.1' }: { kind?: 'http' | 'sse'; host?: string } = {},
): Promise<HostileHttpServer> {
  const memory = newMemory()
  const requests: HostileHttpServer['requests'] = []
  let stream: ServerResponse | undefined // of the older transport, or of the GET request
  let sockets = 0
  let connections = 0
  const server = createServer(async (request, response) => {
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers })
    response.on('error', () => {})
    const message = request.method === 'POST' ? ((await readJson(request)) as Message) : undefined
    if (behaviour.http?.({ request, response, message, memory })) return
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      stream = response
      if (kind === 'sse') response.write('event: endpoint\ndata: /messages\n\n')
      return
    }
    if (!message) return void response.writeHead(200).end()
    if (kind === 'sse') {
      response.writeHead(202).end()
      return receive(
        behaviour,
        message,
        streamPeer(() => stream, memory),
      )
    }
    if (message.id === undefined || message.method === undefined) {
      response.writeHead(202).end()
      return receive(
        behaviour,
        message,
        streamPeer(() => stream, memory),
      )
    }
    const isHandshake = message.method === 'initialize'
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      ...(isHandshake && { 'mcp-session-id': `session-${++sessions}` }),
    })
    response.flushHeaders()
    const peer = streamPeer(() => response, memory)
    const send = (sent: { id?: unknown; method?: unknown }): void => {
      peer.send(sent)
      if (sent.id === message.id && sent.method === undefined) response.end()
    }
    const sendText = (text: string): void => {
      peer.sendText(text)
      response.end()
    }
    receive(behaviour, message, { ...peer, send, sendText })
  })
  server.on('connection', (socket) => {
    connections++
    sockets++
    socket.on('close', () => sockets--).on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}/mcp`,
    memory,
    requests,
    get connections() {
      return connections
    },
    open: () => sockets,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

let sessions = 0

function streamPeer(stream: () => ServerResponse | undefined, memory: Memory): Peer {
  const write = (text: string): void => void stream()?.write(text)
  const sendText = (text: string): void => write(`event: message\ndata: ${text}\n\n`)
  return { send: (message) => sendText(JSON.stringify({ jsonrpc: '2.0', ...message })), sendText, write, memory }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text === '' ? undefined : JSON.parse(text)
}
