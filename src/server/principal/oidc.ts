import type { JWTVerifyGetKey } from 'jose'
import { isRecord, type JsonObject } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import { loadPeer } from '../../error/load-peer.ts'
import { isLoopbackHost } from '../guard/allowed-hosts.ts'
import { bearerOf } from './bearer.ts'
import type { Authenticate, Principal } from './principal.ts'

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

const METADATA_TIMEOUT_MS = 5_000
const MAX_METADATA_BYTES = 1_000_000

/**
 * Authenticates requests by tokens of an OpenID Connect provider: signature, issuer, audience and times are checked. The keys are
 * fetched when the first token arrives, and cached.
 *
 * @example
 * createServer({ apps, authenticate: oidc({ issuer: 'https://login.example.com', audience: 'agents' }) })
 */
export function oidc(options: OidcOptions): Authenticate {
  checkAddress('issuer', options.issuer)
  if (!options.audience) throw invalid('audience is missing. Pass the `aud` claim that tokens for this server have')
  const { issuer, audience, userClaim = 'sub' } = options
  const keys = new ProviderKeys(options)
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
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return undefined
      throw error
    }
  }
}

function principalOf(claims: JsonObject, { userClaim = 'sub', mayActAsAnyUser }: OidcOptions): Principal | undefined {
  const userId = Object.hasOwn(claims, userClaim) ? claims[userClaim] : undefined
  if (typeof userId !== 'string' || userId === '') return undefined
  return { userId, mayActAsAnyUser: mayActAsAnyUser?.(claims) === true }
}

/** The public keys of a provider. */
class ProviderKeys {
  readonly #options: OidcOptions
  #keys: Promise<JWTVerifyGetKey> | undefined

  constructor(options: OidcOptions) {
    this.#options = options
  }

  /** Looks the address of the keys up once. A failure is not kept. */
  get(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#find().catch((error) => {
      this.#keys = undefined
      throw error
    })
    return this.#keys
  }

  async #find(): Promise<JWTVerifyGetKey> {
    const { issuer, fetch: fetchUrl = fetch } = this.#options
    const { createRemoteJWKSet, customFetch } = await loadJose()
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const signal = AbortSignal.timeout(METADATA_TIMEOUT_MS)
    const response = await fetchUrl(address, { redirect: 'error', signal })
    if (!response.ok) throw new Error(`${address} answered with status ${response.status}`)
    const text = await response.text()
    if (text.length > MAX_METADATA_BYTES) throw new Error(`${address} has more than ${MAX_METADATA_BYTES} characters`)
    const metadata: unknown = JSON.parse(text)
    if (!isRecord(metadata) || metadata.issuer !== issuer || typeof metadata.jwks_uri !== 'string')
      throw new Error(
        `${address} is not the metadata of "${issuer}". Use the issuer exactly as the provider writes it.`,
      )
    checkAddress('jwks_uri', metadata.jwks_uri)
    return createRemoteJWKSet(new URL(metadata.jwks_uri), { [customFetch]: fetchUrl })
  }
}

function loadJose(): Promise<typeof import('jose')> {
  return loadPeer('jose', () => import('jose'))
}

/** Keys and metadata need https; a provider on this machine may use http. */
function checkAddress(name: string, address: string): void {
  const url = URL.parse(address)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (!isSafe) throw invalid(`${name} must be an https address, got "${address}"`)
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `oidc(): ${problem}.`)
}
