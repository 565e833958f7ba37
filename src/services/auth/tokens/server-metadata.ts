// The endpoints of an authorization server: from the scheme, or discovered and cached for an hour.
import type { JsonObject } from '../../../core/base/json.ts'
import type { AuthScheme } from '../../../core/content/auth.ts'
import { AuthError } from '../auth-error.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { isEndpoint, originOf } from '../config/endpoint.ts'
import type { OAuthFlowName } from '../config/requested-scopes.ts'
import { fetchJson, type TokenHttp } from './token-fetch.ts'

/** What is known about an authorization server. */
export interface ServerMetadata {
  /** Its identifier. If it is not known: the origin of the token endpoint. */
  readonly issuer: string
  /** Where the user consents. */
  readonly authorizationEndpoint: string | undefined
  /** Where codes are exchanged. */
  readonly tokenEndpoint: string
  /** Where tokens are refreshed. */
  readonly refreshEndpoint: string
  /** The ways to authenticate a client. Undefined if the server does not say. */
  readonly clientAuthentications: readonly string[] | undefined
  /** Is `issuer` its published identifier? Then `iss` of a callback is compared with it. */
  readonly knowsIssuer: boolean
  /** Are id tokens checked? */
  readonly checksIdToken: boolean
  /** Does the server add `iss` to every callback? */
  readonly sendsIssuer: boolean
}

/** The endpoints for a flow. Throws AuthError if discovery fails or the scheme has no such flow. */
export async function findServer(
  http: TokenHttp,
  { authScheme }: CheckedAuthConfig,
  flowName: OAuthFlowName,
): Promise<ServerMetadata> {
  if (authScheme.type === 'openIdConnect') return discover(http, authScheme.openIdConnectUrl)
  const { flows, issuer, sendsIssuer }: Partial<OAuth2Scheme> = authScheme.type === 'oauth2' ? authScheme : {}
  const flow = flows?.[flowName]
  if (!flow) throw new AuthError(`The scheme "${authScheme.type}" has no ${flowName} flow. Add the flow to authScheme.`)
  const { tokenUrl, refreshUrl = tokenUrl, authorizationUrl } = flow
  return {
    issuer: issuer ?? originOf(tokenUrl),
    authorizationEndpoint: authorizationUrl,
    tokenEndpoint: tokenUrl,
    refreshEndpoint: refreshUrl,
    clientAuthentications: undefined,
    knowsIssuer: issuer !== undefined,
    checksIdToken: false,
    sendsIssuer: sendsIssuer === true,
  }
}

type OAuth2Scheme = Extract<AuthScheme, { type: 'oauth2' }>

const CACHE_MS = 60 * 60 * 1000

/** More servers are discovered again. */
const MAX_CACHED = 100

interface Cached {
  readonly at: number
  readonly found: Promise<ServerMetadata>
}

/** By fetch function, because a fetch function of a test or a proxy may reach other servers. */
const caches = new WeakMap<typeof fetch, Map<string, Cached>>()

async function discover(http: TokenHttp, url: string): Promise<ServerMetadata> {
  const send = http.fetch ?? fetch
  const cache = caches.get(send) ?? new Map<string, Cached>()
  caches.set(send, cache)
  const now = http.ports.now()
  const known = cache.get(url)
  if (known && now >= known.at && now - known.at < CACHE_MS) return known.found
  cache.delete(url)
  const [oldest] = cache.keys()
  if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest)
  const entry = { at: now, found: fetchMetadata(http, url) }
  cache.set(url, entry)
  try {
    return await entry.found
  } catch (error) {
    if (cache.get(url) === entry) cache.delete(url) // a failure is not cached
    throw error
  }
}

const WELL_KNOWN = '/.well-known/openid-configuration'

async function fetchMetadata(http: TokenHttp, url: string): Promise<ServerMetadata> {
  const isDocument = new URL(url).pathname.includes('/.well-known/')
  const document = isDocument ? url : `${url.replace(/\/$/, '')}${WELL_KNOWN}`
  const metadata = await fetchJson(http, document, { headers: { accept: 'application/json' } })
  const { issuer } = metadata
  if (typeof issuer !== 'string' || !isIssuerOf(issuer, document))
    throw new AuthError(
      `The discovery document of ${originOf(url)} names another issuer, which is refused. Set openIdConnectUrl to the discovery document of that issuer.`,
    )
  const tokenEndpoint = endpointOf(metadata, 'token_endpoint', document)
  if (tokenEndpoint === undefined) throw missing(document, 'token_endpoint')
  const methods = metadata.token_endpoint_auth_methods_supported
  return {
    issuer,
    authorizationEndpoint: endpointOf(metadata, 'authorization_endpoint', document),
    tokenEndpoint,
    refreshEndpoint: tokenEndpoint,
    clientAuthentications: Array.isArray(methods) ? methods.filter((one) => typeof one === 'string') : undefined,
    knowsIssuer: true,
    checksIdToken: true,
    sendsIssuer: metadata.authorization_response_iss_parameter_supported === true,
  }
}

/** Is the document where its issuer publishes it? OpenID Connect appends the path; RFC 8414 puts it before the path. */
function isIssuerOf(issuer: string, document: string): boolean {
  if (!isEndpoint(issuer)) return false
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const published = new URL(document)
  return ['openid-configuration', 'oauth-authorization-server'].some((name) =>
    [`${origin}${path}/.well-known/${name}`, `${origin}/.well-known/${name}${path}`].includes(
      published.origin + published.pathname,
    ),
  )
}

/** An endpoint of the document. Only a server on this machine may name endpoints on this machine. */
function endpointOf(metadata: JsonObject, name: string, document: string): string | undefined {
  const url = metadata[name]
  if (url === undefined) return undefined
  if (isEndpoint(url) && (new URL(url).protocol === 'https:' || new URL(document).protocol === 'http:')) return url
  throw new AuthError(
    `The ${name} in the discovery document of ${originOf(document)} is not https, which is refused. Contact the operator of the server.`,
  )
}

function missing(document: string, name: string): AuthError {
  return new AuthError(`The discovery document of ${originOf(document)} has no ${name}. Check openIdConnectUrl.`)
}
