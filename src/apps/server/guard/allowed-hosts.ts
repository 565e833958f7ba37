import { isIP } from 'node:net'

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The values of the `Host` header under which clients reach the server. A page of another site can point its own name to this
 * machine (DNS rebinding), but it cannot send the name of this server.
 */
export class AllowedHosts {
  readonly #allowed: ReadonlySet<string>
  #bound: { readonly host: string; readonly port: number } | undefined

  /** `allowedHosts` are names with a port, or without one for the default port. */
  constructor(allowedHosts: readonly string[] = []) {
    this.#allowed = new Set(allowedHosts.map((host) => host.toLowerCase()))
  }

  /** Adds the names of the address that the server listens on. */
  bind(host: string, port: number): void {
    this.#bound = { host: isIP(host) === 6 ? `[${host}]` : host.toLowerCase(), port }
  }

  /** May a request have this `Host`? */
  has(host: string): boolean {
    const given = host.toLowerCase()
    if (this.#allowed.has(given)) return true
    const { name, port } = splitHost(given)
    if (!this.#bound) return LOOPBACK_NAMES.has(name)
    if (port !== this.#bound.port) return false
    if (name === this.#bound.host) return true
    if (isWildcard(this.#bound.host)) return LOOPBACK_NAMES.has(name) || isAddress(name)
    return isLoopbackHost(this.#bound.host) && LOOPBACK_NAMES.has(name)
  }
}

/** Is it an address or a name of this machine that other machines cannot reach? */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

/** Bound to all addresses. An attacker cannot point a name to the server with an address in `Host`. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '[::]'
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}

function splitHost(host: string): { name: string; port: number } {
  const [, name = host, port = '80'] = /^(.*?)(?::(\d{1,5}))?$/.exec(host) ?? []
  return { name, port: Number(port) }
}
