// One address that leads to one server after another, as the address of a cluster does at a failover.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** An address that can lead somewhere else. */
export interface Switchboard extends AsyncDisposable {
  /** The URL that stays. */
  readonly url: string
  /** Ends all connections, and leads new ones to the server with this URL. Without one, they are refused. */
  lead(to: string | undefined): void
}

/** Opens an address that leads to the server with this URL. */
export async function openSwitchboard(to: string): Promise<Switchboard> {
  let target: URL | undefined = new URL(to)
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    if (!target) return void client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const url = new URL(to)
  url.port = String((listener.address() as AddressInfo).port)
  return {
    url: url.href,
    lead(next) {
      target = next === undefined ? undefined : new URL(next)
      endAll()
    },
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close')
      listener.close()
      endAll()
      await closed
    },
  }
}
