import { isIP } from 'node:net'
import type { RequestContext } from '../env.ts'

/** What decides whether headers of a proxy count. */
export interface ProxyTrust {
  /** A proxy in front of the server writes `X-Forwarded-For` and `X-Forwarded-Proto`. */
  readonly trustProxy?: boolean | undefined
}

/**
 * The address of the client; undefined if the host of the server does not say. Any client can send `X-Forwarded-For`: only with
 * `trustProxy` its last entry counts, which is that of the proxy.
 */
export function clientAddress(context: RequestContext, { trustProxy = false }: ProxyTrust): string | undefined {
  const forwarded = trustProxy ? lastOf(context.req.header('x-forwarded-for')) : undefined
  return readAddress(forwarded) ?? readAddress(context.env?.incoming?.socket?.remoteAddress)
}

/** Does the client use TLS, up to the server or up to the proxy that is trusted? */
export function isSecure({ req }: RequestContext, { trustProxy = false }: ProxyTrust): boolean {
  const forwarded = trustProxy ? lastOf(req.header('x-forwarded-proto')) : undefined
  return req.url.startsWith('https:') || forwarded?.toLowerCase() === 'https'
}

/** The addresses that one client can easily choose from have the same network: an IPv6 client usually has 2^64 of them. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [start = '', end = ''] = address.split('::')
  const groups = start === '' ? [] : start.split(':')
  const rest = end === '' ? [] : end.split(':')
  const filled = [...groups, ...Array(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest]
  return `${filled.slice(0, 4).join(':')}::/64`
}

function lastOf(header: string | undefined): string | undefined {
  return header?.split(',').at(-1)?.trim()
}

/** The address without a port, brackets and zone; IPv4 also for IPv4 in IPv6. */
function readAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.replace(/:\d+$/, '') : text)
  const address = bare.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) === 0 ? undefined : address.toLowerCase()
}
