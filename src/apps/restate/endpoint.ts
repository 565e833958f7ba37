// The HTTP/2 server of a worker. Restate opens as many connections as it needs, so that a load balancer can spread them.
import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'

/** A server that answers Restate. */
export interface Endpoint {
  /** The port. */
  readonly port: number
  /** Takes no more requests. Resolves when those under way are answered. */
  drain(): Promise<void>
  /** Ends all connections. */
  close(): Promise<void>
}

/** Handles a request. */
type Handler = Parameters<typeof createServer>[1]

/** Listens on a port. */
export async function openEndpoint(
  handle: NonNullable<Handler>,
  { host, port, concurrency }: { readonly host: string; readonly port: number; readonly concurrency: number },
): Promise<Endpoint> {
  const server: Http2Server = createServer({ settings: { maxConcurrentStreams: concurrency } }, handle)
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {}) // a lost connection: Restate calls again
    session.once('close', () => sessions.delete(session))
  })
  server.listen({ host, port })
  await once(server, 'listening')
  const allClosed = async (): Promise<void> => {
    // `closed` is true as soon as close() is called, with streams under way
    const open = [...sessions].filter(({ destroyed }) => !destroyed)
    await Promise.all(open.map((session) => new Promise<void>((resolve) => session.once('close', resolve))))
  }
  return {
    port: (server.address() as AddressInfo).port, // a TCP server that listens has one
    drain: async () => {
      server.close()
      for (const session of sessions) session.close() // tells Restate to use another connection
      await allClosed()
    },
    close: async () => {
      server.close()
      for (const session of sessions) session.destroy()
    },
  }
}
