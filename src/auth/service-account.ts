import type { CheckedAuthConfig } from './check-auth-config.ts'
import type { TokenHttp, Tokens } from './oauth-tokens.ts'

/** Exchanges a signed JWT for an access token, or for an id token if the account has a `targetAudience`. Throws AuthError. */
export function requestServiceAccountToken(_http: TokenHttp, _config: CheckedAuthConfig): Promise<Tokens> {
  throw new Error('not implemented')
}
