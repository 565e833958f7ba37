// A pooler in transaction mode, as PgBouncer is: each transaction of a client gets any free connection to the server.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A connection to the server. */
interface Backend {
  readonly socket: Socket
  /** Gets what the server sends. */
  receive: (bytes: Buffer) => void
}

const SSL_REQUEST = 80_877_103

/** Starts a pooler with this many connections to the server. Returns the URL of the server through it. It stops after the test. */
export async function transactionPooler(url: string, size: number): Promise<string> {
  const server = new URL(url)
  const free: Backend[] = []
  const waiting: ((backend: Backend) => void)[] = []
  for (let index = 0; index < size; index++) free.push(await openBackend(server))
  const sockets = new Set(free.map(({ socket }) => socket))

  const take = async (): Promise<Backend> => free.shift() ?? (await new Promise((resolve) => waiting.push(resolve)))
  const give = (backend: Backend): void => {
    const next = waiting.shift()
    if (next) next(backend)
    else free.push(backend) // the last one in the row: the next transaction gets another one
  }

  const listener = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    void serve(client, take, give)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  onTestFinished(() => {
    listener.close()
    for (const socket of sockets) socket.destroy()
  })
  return `postgres://postgres@127.0.0.1:${(listener.address() as AddressInfo).port}${server.pathname}`
}

/** Connects to the server, which trusts the role, and waits until it is ready. */
async function openBackend(server: URL): Promise<Backend> {
  const socket = connect(Number(server.port), server.hostname)
  const backend: Backend = { socket, receive: () => {} }
  const messages = messageReader()
  const ready = new Promise<void>((resolve) => {
    backend.receive = (bytes) => {
      if (messages(bytes).some(({ type }) => type === 'Z')) resolve()
    }
  })
  socket.on('error', () => {})
  socket.on('data', (bytes) => backend.receive(bytes))
  const parameters = Buffer.from(`user\0postgres\0database\0${server.pathname.slice(1)}\0client_encoding\0UTF8\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(parameters.length + 8, 0)
  head.writeInt32BE(3 << 16, 4)
  socket.write(Buffer.concat([head, parameters]))
  await ready
  return backend
}

/** Serves a client until it leaves. A transaction ends when the server is ready and says that none is open. */
async function serve(client: Socket, take: () => Promise<Backend>, give: (backend: Backend) => void): Promise<void> {
  let isGreeted = false
  let sent: Buffer[] = []
  let backend: Backend | undefined
  let isTaking = false
  const flush = async (): Promise<void> => {
    if (isTaking) return
    if (!backend) {
      isTaking = true
      backend = await take()
      isTaking = false
      const messages = messageReader()
      const taken = backend
      taken.receive = (bytes) => {
        const isOver = messages(bytes).some(({ type, body }) => type === 'Z' && body.toString() === 'I')
        if (isOver) {
          backend = undefined
          give(taken)
        }
        client.write(bytes)
      }
    }
    for (const bytes of sent) backend.socket.write(bytes)
    sent = []
  }
  client.on('data', (bytes) => {
    if (!isGreeted) {
      if (bytes.readInt32BE(4) === SSL_REQUEST) return void client.write('N')
      isGreeted = true
      return void client.write(GREETING)
    }
    if (bytes[0] === 'X'.charCodeAt(0)) return
    sent.push(bytes)
    void flush()
  })
}

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5, type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Welcome, no password needed; a process id; ready. */
const GREETING = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('S', Buffer.from('server_version\x0018.0\0')),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
])

/** Cuts bytes into the messages of a server. */
function messageReader(): (bytes: Buffer) => { type: string; body: Buffer }[] {
  let rest = Buffer.alloc(0)
  return (bytes) => {
    const found = []
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1
      found.push({ type: String.fromCharCode(rest[0] as number), body: rest.subarray(5, end) })
      rest = rest.subarray(end)
    }
    return found
  }
}
