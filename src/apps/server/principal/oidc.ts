import type { JsonObject } from '../../../core/base/json.ts'
import { bearerOf } from './bearer.ts'
import type { Authenticate, Principal } from './principal.ts'
import { checkAddress, invalidOidc, loadJose, ProviderKeys } from './provider-keys.ts'

/** Options of `oidc()`. */
export interface OidcOptions {
  /** The address of the identity provider, exactly as in the `iss` claim. */
  readonly issuer: string
  /** The `aud` claim that tokens for this server have. */
  readonly audience: string
  /** The claim with the user id. Default `sub`. */
  readonly userClaim?: string | undefined
  /** Decides by its claims whether the sender of a token may act as any user. Default: never. */
  readonly mayActAsAnyUser?: ((claims: JsonObject) => boolean) | undefined
  /** Fetches the metadata and the keys of the provider. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

/** Signatures with a public key only: a key that the provider publishes must never verify an HMAC. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** How far the clocks of the provider and the server may differ, in seconds. */
const CLOCK_TOLERANCE = 30

/**
 * Authenticates requests by tokens of an OpenID Connect provider: signature, issuer, audience and times are checked. The keys are
 * fetched when the first token arrives, and cached. While the provider does not answer, requests fail with `UNAVAILABLE`.
 *
 * @example
 * createServer({ apps, authenticate: oidc({ issuer: 'https://login.example.com', audience: 'agents' }) })
 */
export function oidc(options: OidcOptions): Authenticate {
  checkAddress('issuer', options.issuer)
  if (!options.audience) throw invalidOidc('audience is missing. Pass the `aud` claim that tokens for this server have')
  const { issuer, audience, userClaim = 'sub' } = options
  const keys = new ProviderKeys(issuer, options.fetch)
  return async (request) => {
    const token = bearerOf(request)
    if (token === undefined) return undefined
    const { jwtVerify, errors } = await loadJose()
    const key = await keys.get()
    try {
      const requiredClaims = ['exp', userClaim]
      const { payload } = await jwtVerify(token, key, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims,
        clockTolerance: CLOCK_TOLERANCE,
      })
      return principalOf(payload, options)
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined // about the token: `keys` reports the provider
      throw error
    }
  }
}

function principalOf(claims: JsonObject, { userClaim = 'sub', mayActAsAnyUser }: OidcOptions): Principal | undefined {
  const userId = Object.hasOwn(claims, userClaim) ? claims[userClaim] : undefined
  if (typeof userId !== 'string' || userId === '') return undefined
  return { userId, mayActAsAnyUser: mayActAsAnyUser?.(claims) === true }
}
