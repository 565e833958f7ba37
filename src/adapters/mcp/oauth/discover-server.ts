// Finds the authorization server of an MCP server: the metadata of the protected resource (RFC 9728), then the metadata of
// its authorization server (RFC 8414, OpenID Connect). A server of 2025-03-26 is its own authorization server.
import type { AuthorizationServerMetadata, OAuthProtectedResourceMetadata } from '@modelcontextprotocol/client'
import { AuthError } from '../../../services/auth/auth-error.ts'
import type { DiscoveryFetch } from './discovery-fetch.ts'
import type { McpClientLibrary } from './mcp-client-library.ts'
import { readScopes } from './read-challenge.ts'
import { checkResolved, checkTarget, type TargetRules } from './target-guard.ts'

/** What discovery needs. */
export interface Discovery {
  /** The MCP client package. */
  readonly library: McpClientLibrary
  /** Sends requests to checked targets. */
  readonly fetch: DiscoveryFetch
  /** Which URLs may be used. */
  readonly rules: TargetRules
}

/** The authorization server of an MCP server. */
export interface DiscoveredServer {
  /** Its URL. */
  readonly url: string
  /** Its identifier. Undefined for a server of 2025-03-26 without metadata. */
  readonly issuer: string | undefined
  /** Where the user consents. */
  readonly authorizationUrl: string
  /** Where codes are exchanged. */
  readonly tokenUrl: string
  /** Its metadata. Undefined for a server of 2025-03-26 without metadata. */
  readonly metadata: AuthorizationServerMetadata | undefined
  /** The identifier of the MCP server at the authorization server (RFC 8707). */
  readonly resource: string | undefined
  /** The scopes that the MCP server knows. */
  readonly resourceScopes: readonly string[]
}

/** Discovers the authorization server of an MCP server. Throws AuthError. */
export async function discoverServer(discovery: Discovery, metadataUrl: URL | undefined): Promise<DiscoveredServer> {
  const { serverUrl } = discovery.rules
  const resource = await discoverResource(discovery, metadataUrl)
  if (resource) checkResource(discovery, resource)
  const url = resource?.authorization_servers?.[0] ?? serverUrl.origin
  const metadata = await discoverMetadata(discovery, url, resource !== undefined)
  if (!metadata && resource) throw new AuthError(`The authorization server ${nameOf(url)} publishes no metadata.`)
  return {
    url,
    issuer: metadata?.issuer,
    ...(await endpointsOf(discovery, url, metadata)),
    metadata,
    resource: resource?.resource,
    resourceScopes: readScopes(resource?.scopes_supported),
  }
}

async function discoverResource(
  { library, fetch, rules }: Discovery,
  metadataUrl: URL | undefined,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  let isMissing = false
  const watched: DiscoveryFetch = async (url, init) => {
    const response = await fetch(url, init)
    isMissing = response.status >= 400 && response.status < 500
    return response
  }
  const where = metadataUrl && { resourceMetadataUrl: metadataUrl }
  try {
    return await library.discoverOAuthProtectedResourceMetadata(rules.serverUrl, where, watched)
  } catch (error) {
    if (isMissing) return undefined // a server of 2025-03-26 publishes none
    throw asAuthError(error, `The metadata of the MCP server ${rules.serverUrl.origin} could not be read.`)
  }
}

/** A token for another resource could be used against that resource. */
function checkResource({ library, rules }: Discovery, { resource }: OAuthProtectedResourceMetadata): void {
  const requestedResource = library.resourceUrlFromServerUrl(rules.serverUrl)
  if (library.checkResourceAllowed({ requestedResource, configuredResource: resource })) return
  throw new AuthError(
    `The MCP server ${rules.serverUrl.origin} says that it is the resource ${nameOf(resource)}. Refused: the resource must be the URL of the server.`,
  )
}

/** The issuer is the URL of the metadata (RFC 8414, 3.3). A server of 2025-03-26 may name another path of its origin. */
async function discoverMetadata(
  { library, fetch }: Discovery,
  url: string,
  isStrict: boolean,
): Promise<AuthorizationServerMetadata | undefined> {
  let metadata: AuthorizationServerMetadata | undefined
  let isOther = false
  try {
    const options = { fetchFn: fetch, skipIssuerValidation: !isStrict }
    metadata = await library.discoverAuthorizationServerMetadata(url, options)
    isOther = metadata !== undefined && new URL(metadata.issuer).origin !== new URL(url).origin
  } catch (error) {
    isOther = error instanceof library.IssuerMismatchError
    if (!isOther) throw asAuthError(error, `The metadata of the authorization server ${nameOf(url)} could not be read.`)
  }
  if (!isOther) return metadata
  throw new AuthError(`The metadata of the authorization server ${nameOf(url)} names another issuer, which is refused.`)
}

async function endpointsOf(
  { rules }: Discovery,
  url: string,
  metadata: AuthorizationServerMetadata | undefined,
): Promise<Pick<DiscoveredServer, 'authorizationUrl' | 'tokenUrl'>> {
  if (metadata && !metadata.code_challenge_methods_supported?.includes('S256')) {
    throw new AuthError(`The authorization server ${nameOf(url)} does not support PKCE with S256, which is required.`)
  }
  const { authorization_endpoint = new URL('/authorize', url), token_endpoint = new URL('/token', url) } =
    metadata ?? {}
  const authorizationUrl = checkTarget(authorization_endpoint, 'authorization endpoint', rules)
  const tokenUrl = checkTarget(token_endpoint, 'token endpoint', rules)
  await checkResolved(tokenUrl, rules)
  return { authorizationUrl: authorizationUrl.href, tokenUrl: tokenUrl.href }
}

/** Errors of the library and of schemas quote what the server sent, so they are replaced. */
function asAuthError(error: unknown, message: string): AuthError {
  return error instanceof AuthError ? error : new AuthError(message)
}

/** The origin of a URL that a server sent. Its path could contain anything. */
function nameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'with an invalid URL'
}
