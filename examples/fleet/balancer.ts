// A load balancer in front of the workers of this machine: one address, and a worker for each connection in turn.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A balancer that listens. */
export interface Balancer {
  /** Its address. */
  readonly url: string
  /** The ports of the workers that run. */
  readonly ports: Set<number>
  /** Stops it, and ends its connections. */
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
    join(client, worker, sockets)
    join(worker, client, sockets)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ports, close }
}

function join(from: Socket, to: Socket, sockets: Set<Socket>): void {
  sockets.add(from)
  from.setNoDelay(true)
  from.on('error', () => to.destroy())
  from.once('close', () => {
    sockets.delete(from)
    to.destroy()
  })
  from.pipe(to)
}
