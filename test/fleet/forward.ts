// Passes connections on, byte for byte: between addresses, and over a Unix socket into a network namespace and out of it.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type ListenOptions, type NetConnectOpts, type Socket } from 'node:net'

/** A server that passes connections on. */
export interface Forwarder {
  /** Its port. 0 if it listens on a path. */
  readonly port: number
  close(): void
}

/** Listens, and connects each client to where `next` says. Without such a place, the client is refused. */
export async function forward(listen: ListenOptions, next: () => NetConnectOpts | undefined): Promise<Forwarder> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const to = next()
    if (!to) return void client.destroy()
    const target = connect(to)
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket)
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.on('error', () => other.destroy())
      socket.setNoDelay(true)
      socket.pipe(other)
    }
  })
  server.listen(listen)
  await once(server, 'listening')
  const address = server.address() as AddressInfo | string // it listens
  return {
    port: typeof address === 'string' ? 0 : address.port,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
