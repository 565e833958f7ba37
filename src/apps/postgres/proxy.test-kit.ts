// Proxies between a client and a Postgres server, for what networks and poolers do.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** What a proxy does when the client sends a commit. */
export type CommitFault = 'cut before' | 'cut after' | 'hang after' | 'none'

/** A proxy that forwards bytes, until a fault is set. */
export interface FaultyProxy {
  /** The URL of the server through the proxy. */
  readonly url: string
  /** What happens to the next commit. It happens once. */
  nextCommit: CommitFault
  /** How many commits the client has sent. */
  commits: number
  /** Forwards nothing more, without closing a connection: a network that is gone. */
  isSilent: boolean
}

/** Starts a proxy that can cut the connection at a commit. It stops after the test. */
export async function faultyProxy(url: string): Promise<FaultyProxy> {
  const server = new URL(url)
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    let fault: CommitFault = 'none'
    client.on('data', (bytes) => {
      if (proxy.isSilent) return
      if (bytes.includes('COMMIT\0')) {
        proxy.commits++
        fault = proxy.nextCommit
        proxy.nextCommit = 'none'
      }
      if (fault === 'cut before') client.destroy()
      else upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      // the answer to the commit is the first thing that comes after it
      if (fault === 'cut after') client.destroy()
      else if (fault === 'none' && !proxy.isSilent) client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  onTestFinished(() => {
    listener.close()
    for (const socket of sockets) socket.destroy()
  })
  const proxy: FaultyProxy = {
    url: `postgres://postgres@127.0.0.1:${(listener.address() as AddressInfo).port}${server.pathname}`,
    nextCommit: 'none',
    commits: 0,
    isSilent: false,
  }
  return proxy
}
