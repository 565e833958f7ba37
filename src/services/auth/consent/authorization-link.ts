import { isEndpoint, isLoopback } from '../config/endpoint.ts'

/** What an authorization URL says about a consent. */
export interface AuthorizationLink {
  /** The URL. It has no control characters and no spaces. */
  readonly href: string
  /** The origin of the provider. */
  readonly origin: string
  /** The scopes that the tool wants. */
  readonly scopes: readonly string[]
  /** The `state` that the callback must repeat. */
  readonly state: string
  /** Where the provider sends the browser. Undefined if the provider knows it. */
  readonly redirectUri: string | undefined
}

/** Reads an authorization URL. Undefined if a browser must not open it, or it has no `state`. */
export function readAuthorizationLink(authUri: string | undefined): AuthorizationLink | undefined {
  if (!isEndpoint(authUri)) return undefined
  const { href, origin, searchParams } = new URL(authUri)
  const state = searchParams.get('state')
  if (!state) return undefined
  const scopes = (searchParams.get('scope') ?? '').split(/[\s,]+/).filter(Boolean) // some providers separate with commas
  return { href, origin, scopes, state, redirectUri: searchParams.get('redirect_uri') ?? undefined }
}

/** Where a program of this machine receives a callback. */
export interface LoopbackAddress {
  /** `127.0.0.1`, `::1`, or `localhost`. */
  readonly host: string
  /** The TCP port. */
  readonly port: number
  /** The redirect URI. */
  readonly url: URL
}

/** The address that a redirect URI names. Undefined if it is not an http URL of this machine. */
export function loopbackAddress(redirectUri: string | undefined): LoopbackAddress | undefined {
  if (redirectUri === undefined || !URL.canParse(redirectUri)) return undefined
  const url = new URL(redirectUri)
  const port = url.port === '' ? 80 : Number(url.port)
  if (url.protocol !== 'http:' || !isLoopback(url) || port === 0) return undefined
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, url }
}
