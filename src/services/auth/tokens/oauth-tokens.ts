// Token requests to an authorization server, through oauth4webapi.
import { AuthError } from '../auth-error.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { findProvider } from '../config/providers.ts'
import { requestedScopes } from '../config/requested-scopes.ts'
import { clientIdOf } from './client-authentication.ts'
import { loadOAuthLibrary, type OAuthLibrary } from './oauth-library.ts'
import type { Tokens } from './read-tokens.ts'
import { findServer, type ServerMetadata } from './server-metadata.ts'
import type { TokenHttp } from './token-fetch.ts'
import { requestToken } from './token-request.ts'

export type { Tokens } from './read-tokens.ts'
export type { TokenHttp } from './token-fetch.ts'

/** The authorization URL of a consent and what must be kept secret until its answer. */
export interface AuthorizationRequest {
  /** Where the user consents. */
  readonly authUri: string
  /** The random text that the callback must return. */
  readonly state: string
  /** The PKCE verifier. Only the token endpoint gets it. */
  readonly codeVerifier: string
  /** Where the callback goes. Undefined: the one that is registered. */
  readonly redirectUri: string | undefined
}

/** Builds the authorization URL with PKCE S256 and a random `state`. Throws AuthError, for example when discovery fails. */
export async function createAuthorizationRequest(
  http: TokenHttp,
  config: CheckedAuthConfig,
  redirectUri: string | undefined = config.rawAuthCredential?.oauth2?.redirectUri,
): Promise<AuthorizationRequest> {
  const oauth = await loadOAuthLibrary()
  const { authorizationEndpoint, issuer } = await findServer(http, config, 'authorizationCode')
  if (authorizationEndpoint === undefined)
    throw new AuthError(`The authorization server ${issuer} has no authorization endpoint. Use client credentials.`)
  const state = oauth.generateRandomState()
  const codeVerifier = oauth.generateRandomCodeVerifier()
  const url = new URL(authorizationEndpoint)
  const parameters = {
    ...parametersOf(config),
    client_id: clientIdOf(config),
    response_type: 'code',
    ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
    ...(config.resource !== undefined && { resource: config.resource }),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { authUri: url.href, state, codeVerifier, redirectUri }
}

/** Exchanges an authorization code. Checks `iss` if the issuer is known. Throws AuthError. */
export async function exchangeCode(
  http: TokenHttp,
  config: CheckedAuthConfig,
  answer: {
    code: string
    iss?: string | undefined
    codeVerifier?: string | undefined
    redirectUri?: string | undefined
  },
): Promise<Tokens> {
  const oauth = await loadOAuthLibrary()
  const server = await findServer(http, config, 'authorizationCode')
  if (server.knowsIssuer) checkIssuer(oauth, server, answer.iss)
  const { code, codeVerifier, redirectUri = config.rawAuthCredential?.oauth2?.redirectUri } = answer
  const parameters = {
    code,
    ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
    ...(codeVerifier !== undefined && { code_verifier: codeVerifier }),
  }
  return requestToken(http, config, { server, grant: 'authorization_code', parameters })
}

/** Refreshes tokens. Keeps the refresh token if the server returns none. Throws AuthError, `isFinal` for invalid_grant. */
export async function refreshTokens(http: TokenHttp, config: CheckedAuthConfig, tokens: Tokens): Promise<Tokens> {
  if (tokens.refreshToken === undefined)
    throw new AuthError('There is no refresh token. A new consent is needed.', { isFinal: true })
  const { authScheme } = config
  const isOfClient = authScheme.type === 'oauth2' && !authScheme.flows.authorizationCode
  const found = await findServer(http, config, isOfClient ? 'clientCredentials' : 'authorizationCode')
  const server = { ...found, tokenEndpoint: found.refreshEndpoint }
  const parameters = { refresh_token: tokens.refreshToken }
  return requestToken(http, config, { server, grant: 'refresh_token', parameters, previous: tokens })
}

/** Requests a token for the client itself. Throws AuthError. */
export async function requestClientToken(http: TokenHttp, config: CheckedAuthConfig): Promise<Tokens> {
  const server = await findServer(http, config, 'clientCredentials')
  const scope = requestedScopes(config, 'clientCredentials').join(' ')
  return requestToken(http, config, { server, grant: 'client_credentials', parameters: scope ? { scope } : {} })
}

/** Scopes, and the parameters of the provider. */
function parametersOf(config: CheckedAuthConfig): Record<string, string> {
  const { authScheme } = config
  const isOpenId = authScheme.type === 'openIdConnect'
  const asksForConsent = isOpenId || (authScheme.type === 'oauth2' && authScheme.issuer !== undefined)
  const { authorizationParameters = {}, scopeSeparator = ' ' } = findProvider(config.provider) ?? {}
  const requested = requestedScopes(config)
  const scopes = isOpenId && requested.length === 0 ? ['openid'] : requested
  return {
    // OpenID Connect: without a consent page, a server ignores offline_access and returns no refresh token
    ...(asksForConsent && scopes.includes('offline_access') && { prompt: 'consent' }),
    ...authorizationParameters,
    ...(scopes.length > 0 && { scope: scopes.join(scopeSeparator) }),
  }
}

/** RFC 9207: a callback of another authorization server is refused, before the code is sent anywhere. */
function checkIssuer(oauth: OAuthLibrary, server: ServerMetadata, iss: string | undefined): void {
  const as = { issuer: server.issuer, authorization_response_iss_parameter_supported: server.sendsIssuer }
  try {
    const parameters = new URLSearchParams(iss === undefined ? {} : { iss })
    oauth.validateAuthResponse(as, { client_id: 'any' }, parameters, oauth.skipStateCheck)
  } catch {
    const problem = iss === undefined ? 'has no "iss"' : 'has the "iss" of another server'
    throw new AuthError(
      `The answer to the consent ${problem}: ${server.issuer} did not send it. A new consent is needed.`,
      { isFinal: true },
    )
  }
}
