import type { JsonObject } from '../../../core/base/json.ts'
import { AuthError } from '../auth-error.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { originOf } from '../config/endpoint.ts'
import { findProvider } from '../config/providers.ts'
import { clientAuthentication, clientIdOf } from './client-authentication.ts'
import { loadOAuthLibrary } from './oauth-library.ts'
import { readTokens, type Tokens } from './read-tokens.ts'
import type { ServerMetadata } from './server-metadata.ts'
import { fetchJson, type TokenHttp } from './token-fetch.ts'

/** A request to a token endpoint. */
interface TokenRequest {
  /** The server that gets the request. */
  readonly server: ServerMetadata
  /** `grant_type`. */
  readonly grant: 'authorization_code' | 'refresh_token' | 'client_credentials'
  /** The parameters of the grant, such as `code`. */
  readonly parameters: Readonly<Record<string, string>>
  /** The tokens that a refresh replaces. */
  readonly previous?: Tokens
}

/** Sends a token request with the authentication of the client, and checks the response. Throws AuthError. */
export async function requestToken(http: TokenHttp, config: CheckedAuthConfig, request: TokenRequest): Promise<Tokens> {
  const { server, grant, parameters, previous } = request
  const oauth = await loadOAuthLibrary()
  const as = { issuer: server.issuer, token_endpoint: server.tokenEndpoint }
  const client = { client_id: clientIdOf(config), [oauth.clockTolerance]: 60 }
  let received: JsonObject = {}
  const options = {
    [oauth.allowInsecureRequests]: true, // fetchJson() allows http only to loopback addresses
    [oauth.customFetch]: async (url: string, init: RequestInit): Promise<Response> => {
      received = await fetchJson(http, url, init)
      return Response.json(conformResponse(received, server))
    },
  }
  const origin = originOf(server.tokenEndpoint)
  try {
    const authentication = await clientAuthentication(oauth, config, server)
    const response = await oauth.genericTokenEndpointRequest(
      as,
      client,
      authentication,
      grant,
      { ...parameters, ...(config.resource !== undefined && { resource: config.resource }) },
      options,
    )
    await oauth.processGenericTokenEndpointResponse(as, client, response, { recognizedTokenTypes: TOKEN_TYPES })
  } catch (error) {
    throw error instanceof AuthError ? error : invalidResponse(origin, error)
  }
  const scopeSeparator = findProvider(config.provider)?.grantedScopeSeparator
  return readTokens(received, { now: http.ports.now(), server: origin, scopeSeparator, previous })
}

/** Slack names the owner of a bearer token in `token_type`. A DPoP token cannot be used: no key was sent for it. */
const TOKEN_TYPES = {
  bot: (): void => {},
  user: (): void => {},
  dpop: (): never => {
    throw new Error('DPoP tokens are not supported')
  },
}

/**
 * The response as RFC 6749 describes it: `token_type` is there, and absent members are neither null nor empty. The id token
 * of a scheme other than OpenID Connect is not checked, because nothing relies on it.
 */
function conformResponse(received: JsonObject, { checksIdToken }: ServerMetadata): JsonObject {
  const members = Object.entries(received).filter(
    ([name, value]) => value !== null && value !== '' && (checksIdToken || name !== 'id_token'),
  )
  return { token_type: 'bearer', ...Object.fromEntries(members) }
}

/** The error of the library contains the response, so only its code is shown. */
function invalidResponse(server: string, error: unknown): AuthError {
  const code = (error as { code?: unknown } | null)?.code
  const shown = typeof code === 'string' && /^OAUTH_[A-Z_]{1,60}$/.test(code) ? ` (${code})` : ''
  return new AuthError(`The authorization server ${server} returned an invalid token response${shown}. Check the URL.`)
}
