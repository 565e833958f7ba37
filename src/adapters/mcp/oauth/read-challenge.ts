import type { McpClientLibrary } from './mcp-client-library.ts'

/** What a server says about the credential that it wants. */
export interface Challenge {
  /** Where the metadata of the protected resource is. */
  readonly metadataUrl: URL | undefined
  /** The scopes that the request needs. */
  readonly scopes: readonly string[]
  /** Did the server refuse a token because a scope is missing? */
  readonly isInsufficientScope: boolean
}

/** Reads a `WWW-Authenticate` header. A header that is missing or has another scheme says nothing. */
export function readChallenge(library: McpClientLibrary, header: string | undefined): Challenge {
  const isReadable = header !== undefined && /^[\t -~]{1,8192}$/.test(header)
  const response = new Response(null, { status: 401, headers: isReadable ? { 'www-authenticate': header } : {} })
  const { resourceMetadataUrl, scope, error } = library.extractWWWAuthenticateParams(response)
  return {
    metadataUrl: resourceMetadataUrl,
    scopes: readScopes(scope?.split(' ')),
    isInsufficientScope: error === 'insufficient_scope',
  }
}

const MAX_SCOPES = 100

/** The scopes that a server names. A server is not trusted: what is no scope (RFC 6749, 3.3) is dropped. */
export function readScopes(scopes: readonly unknown[] | undefined): readonly string[] {
  const isScope = (one: unknown): one is string =>
    typeof one === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(one)
  return [...new Set((scopes ?? []).filter(isScope))].slice(0, MAX_SCOPES)
}
