// An MCP server decides which URLs its authorization discovery contacts. Without a guard it could make the application send
// requests into the network of its operator.

import { isLoopbackHost, isPrivateHost } from '../../../core/base/private-address.ts'
import { AuthError } from '../../../services/auth/auth-error.ts'
import { originOf } from '../../../services/auth/config/endpoint.ts'

/** Which URLs discovery may contact. */
export interface TargetRules {
  /** The MCP server. If it is on this machine, discovery may contact this machine. */
  readonly serverUrl: URL
  /** May discovery contact private addresses, because the authorization server is in the network of the operator? */
  readonly allowPrivate?: boolean | undefined
  /** Returns the addresses of a host name. Undefined: names are not checked. */
  resolve?: ResolveHost | undefined
}

/** Returns the addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

/**
 * Returns the URL if a browser or a request may go there: https to a public host, or http and https to this machine if the
 * MCP server is on it. Throws AuthError. `what` names the URL in the error.
 */
export function checkTarget(value: string | URL, what: string, rules: TargetRules): URL {
  const refuse = (why: string): never => {
    throw new AuthError(`The ${what} of the MCP server ${rules.serverUrl.origin} is refused: ${why}`)
  }
  if (!URL.canParse(String(value))) return refuse('it is not a URL.')
  const url = new URL(value)
  if (url.username !== '' || url.password !== '') refuse('it contains a user name or a password.')
  const isLocal = isLoopbackHost(url.hostname) && isLoopbackHost(rules.serverUrl.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) refuse('it is not https.')
  if (!isLocal && isPrivateHost(url.hostname) && !rules.allowPrivate) refuse(PRIVATE)
  return url
}

/** Throws AuthError if the name of a host resolves to a private address. Addresses are checked by `checkTarget()`. */
export async function checkResolved(url: URL, rules: TargetRules): Promise<void> {
  const { hostname } = url
  if (!rules.resolve || rules.allowPrivate || isLoopbackHost(hostname) || isAddress(hostname)) return
  const addresses = await rules.resolve(hostname).catch(() => [])
  if (addresses.length === 0) throw new AuthError(`The host of ${originOf(url.href)} could not be resolved.`)
  // every address is checked: the connection may use any of them
  if (addresses.some((address) => isPrivateHost(address)))
    throw new AuthError(`A request to ${originOf(url.href)} is refused: ${PRIVATE}`)
}

const PRIVATE =
  'it names a private address. Set allowPrivateAuthorizationServer of the connection if the authorization server is in your own network.'

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^[\d.]+$/.test(hostname)
}
