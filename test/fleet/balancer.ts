// The load balancer in front of the workers: one address, and a worker for each connection in turn.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A balancer that listens. */
export interface Balancer {
  /** Its address. */
  readonly url: string
  /** The ports of the workers that run. */
  readonly ports: Set<number>
  close(): void
}

/** Starts a balancer without workers. */
export async function startBalancer(): Promise<Balancer> {
  const ports = new Set<number>()
  const sockets = new Set<Socket>()
  let turn = 0
  const server = createServer((client) => {
    const all = [...ports]
    const port = all[turn++ % Math.max(1, all.length)]
    if (port === undefined) return void client.destroy()
    const worker = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, worker],
      [worker, client],
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ports,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
