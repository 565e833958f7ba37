// Receives the callback of a consent on a loopback port.
import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { LoopbackAddress } from '../../../services/auth/consent/authorization-link.ts'

/** A listener that waits for one callback. */
export interface CallbackListener {
  /** The callback URL with `code` or `error`. Never settles if the listener is closed before. */
  readonly callback: Promise<string>
  /** Stops listening. */
  close(): Promise<void>
}

/**
 * Listens at the redirect URI until a GET request has the right `state`. Other requests get an error and change nothing.
 * Rejects with the error of the operating system if the port cannot be used.
 */
export async function listenForCallback(address: LoopbackAddress, state: string): Promise<CallbackListener> {
  const received = Promise.withResolvers<string>()
  const servers: Server[] = []
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(closeServer))
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const reading = readCallback(request, address.url, state)
    if (typeof reading === 'number') sendPage(response, reading, 'This page is not part of a sign-in.')
    else {
      response.once('close', () => received.resolve(reading)) // the browser has the page before the listener closes
      sendPage(response, 200, 'You can close this window and return to the terminal.')
    }
  }
  try {
    for (const host of hostsOf(address)) {
      const server = createServer(answer)
      if (await listen(server, host, address.port)) servers.push(server)
    }
  } catch (error) {
    await close()
    throw error
  }
  return { callback: received.promise, close }
}

/** A browser may connect to either address of `localhost`. Both are bound, so that no other program gets the code. */
function hostsOf({ host }: LoopbackAddress): readonly string[] {
  return host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
}

/** False if the machine has no IPv6. */
async function listen(server: Server, host: string, port: number): Promise<boolean> {
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    server.on('error', () => {}) // a connection that cannot be accepted must not end the process
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // the errors of `listen` have a code
    if (host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT')) return false
    throw error
  }
}

/** The callback URL, or the status of a request that is no callback. */
function readCallback({ method, url = '', headers }: IncomingMessage, expected: URL, state: string): string | number {
  const base = expected.origin
  if (!URL.canParse(url, base)) return 400
  const callback = new URL(url, base)
  const isHere = callback.origin === base && callback.pathname === expected.pathname && headers.host === expected.host
  if (method !== 'GET' || !isHere) return 404
  const { searchParams } = callback
  const hasOne = (name: string): boolean => searchParams.getAll(name).length === 1
  if (!hasOne('state') || !isSame(searchParams.get('state') ?? '', state)) return 400
  return hasOne('code') !== hasOne('error') ? callback.href : 400
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Sends a page that contains nothing of the request. */
function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    connection: 'close',
  })
  response.end(`<!doctype html><meta charset="utf-8"><title>toolwright</title><p>${text}</p>\n`)
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
