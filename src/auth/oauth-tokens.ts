// Token requests to an authorization server, through oauth4webapi.
import type { AuthCredential } from '../content/auth.ts'
import type { AuthServices } from './auth-services.ts'
import type { CheckedAuthConfig } from './check-auth-config.ts'

/** What token requests need. */
export type TokenHttp = Pick<AuthServices, 'fetch' | 'ports'>

/** The tokens of a credential: `accessToken`, `refreshToken`, `idToken`, `expiresAt`, `scopes`. */
export type Tokens = NonNullable<AuthCredential['oauth2']>

/** The authorization URL of a consent and what must be kept secret until its answer. */
export interface AuthorizationRequest {
  readonly authUri: string
  readonly state: string
  readonly codeVerifier: string
  readonly redirectUri: string | undefined
}

/** Builds the authorization URL with PKCE S256 and a random `state`. Throws AuthError, for example when discovery fails. */
export function createAuthorizationRequest(
  _http: TokenHttp,
  _config: CheckedAuthConfig,
  _redirectUri: string | undefined,
): Promise<AuthorizationRequest> {
  throw new Error('not implemented')
}

/** Exchanges an authorization code. Checks `iss` if the endpoints were discovered. Throws AuthError. */
export function exchangeCode(
  _http: TokenHttp,
  _config: CheckedAuthConfig,
  _answer: {
    code: string
    iss?: string | undefined
    codeVerifier?: string | undefined
    redirectUri?: string | undefined
  },
): Promise<Tokens> {
  throw new Error('not implemented')
}

/** Refreshes tokens. Keeps the refresh token if the server returns none. Throws AuthError, `isFinal` for invalid_grant. */
export function refreshTokens(_http: TokenHttp, _config: CheckedAuthConfig, _tokens: Tokens): Promise<Tokens> {
  throw new Error('not implemented')
}

/** Requests a token for the client itself. Throws AuthError. */
export function requestClientToken(_http: TokenHttp, _config: CheckedAuthConfig): Promise<Tokens> {
  throw new Error('not implemented')
}
