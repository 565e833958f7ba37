// Node's HTTP server around the request handler. It has the limits that a handler cannot set: headers, times, connections.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { FetchHandler, HostBindings, ServerParts } from './env.ts'
import { handleUpgrades, type SocketUpgrades } from './live/upgrades.ts'

/** A server that listens on a port. */
export interface Listening {
  /** The address, without a slash at the end. */
  readonly url: string
  /** The port. */
  readonly port: number
  /** Accepts no more connections. Those without a request are closed. */
  stopAccepting(): void
  /** Closes all connections. Resolves when the port is free. */
  close(): Promise<void>
}

const MAX_HEADER_BYTES = 16_384
const MAX_HEADERS = 100
/** Finds a client that has disappeared without closing its connection. */
const KEEP_ALIVE_PROBE_MS = 30_000

/** How long `close()` waits for the last frames of streams, in milliseconds. */
const FLUSH_MS = 500

/** Listens on a port. */
export async function listen(
  fetch: FetchHandler,
  parts: ServerParts,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<Listening> {
  const server = createNodeServer(fetch, parts)
  const upgrades = handleUpgrades(server, fetch)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: actual } = server.address() as AddressInfo // a TCP server that listens has one
  parts.hosts.bind(host, actual)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    port: actual,
    stopAccepting: () => {
      server.close()
      upgrades.close()
    },
    close: () => closeServer(server, upgrades),
  }
}

function createNodeServer(fetch: FetchHandler, { limits, logger }: ServerParts): Server {
  const handle = getRequestListener((request, bindings) => fetch(request, bindings as HostBindings), {
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      // a request without a valid host and URL is a mistake of the client: it is not logged
      if (error instanceof RequestError)
        return Response.json({ error: 'The request is not valid.', errorCode: 'INVALID_REQUEST' }, { status: 400 })
      logger.error('A request could not be handled.', error)
      return Response.json({ error: 'The server failed.', errorCode: 'INTERNAL' }, { status: 500 })
    },
  })
  const { headersTimeoutMs, requestTimeoutMs, connections, streamStallMs } = limits
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs, 10_000) / 2),
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      // other upgrades, such as h2c, are answered as plain requests
      shouldUpgradeCallback: isWebSocket,
    },
    (request, response) => {
      // a client that does not read would keep the response in memory; event streams have a limit of their own
      response.setTimeout(streamStallMs, () => {
        if (response.headersSent) response.destroy()
        else response.setTimeout(streamStallMs) // the handler is at work
      })
      void handle(request, response)
    },
  )
  server.maxHeadersCount = MAX_HEADERS
  server.maxConnections = connections
  return server
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** Streams whose runs have ended send their last frames. Then all connections are closed. */
function closeServer(server: Server, upgrades: SocketUpgrades): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), 10)
    const flushed = setTimeout(() => {
      upgrades.terminate()
      server.closeAllConnections()
    }, FLUSH_MS)
    // also called if the server was closed before
    server.close(() => {
      clearInterval(idle)
      clearTimeout(flushed)
      resolve()
    })
    server.closeIdleConnections()
  })
}
