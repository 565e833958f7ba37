// Where the credential of a configuration comes from without asking the user.
import type { AuthCredential } from '../../../core/content/auth.ts'
import { AuthError } from '../auth-error.ts'
import { quoteKey } from '../auth-failure.ts'
import { consentKeyOf, saveRecord } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { digestOf } from '../digest.ts'
import { exchangeCode, refreshTokens, requestClientToken } from '../tokens/oauth-tokens.ts'
import { requestServiceAccountToken } from '../tokens/service-account.ts'
import { readCustom, tokenCredential } from './stored-credential.ts'

/** A credential to resolve. */
export interface CredentialNeed {
  /** The user, the store, clock and HTTP. */
  readonly services: AuthServices
  /** The key of the credential. */
  readonly key: string
  /** The configuration of the tool. */
  readonly config: CheckedAuthConfig
  /** The redirect URI of the code in the raw credential. */
  readonly redirectUri: string | undefined
}

/** Requests a credential. Undefined if there is nothing to request. Throws AuthError. */
type TokenSource = () => Promise<AuthCredential | undefined>

/** Refreshes a stored token. Undefined if it has no refresh token, or does not come from a user's consent. */
export function refreshSource({ services, config }: CredentialNeed, previous: AuthCredential): TokenSource | undefined {
  const { oauth2 } = previous
  if (oauth2?.refreshToken === undefined || !canAskUser(config)) return undefined
  return async () => {
    const tokens = await refreshTokens(services, config, oauth2)
    return tokenCredential(config, tokens, { now: services.ports.now(), previous })
  }
}

/**
 * Exchanges the code of the raw credential. A code works once, so it is marked as used before the exchange. The mark
 * stays: after the token has expired, the same code is not sent again.
 */
export function codeSource(need: CredentialNeed): TokenSource | undefined {
  const { services, config, key } = need
  const { authCode: code, codeVerifier } = config.rawAuthCredential?.oauth2 ?? {}
  if (code === undefined || !canAskUser(config)) return undefined
  const redirectUri = need.redirectUri ?? config.rawAuthCredential?.oauth2?.redirectUri
  return async () => {
    const mark = await saveRecord(services, {
      key: consentKeyOf(`code:${await digestOf(key, code)}`),
      credential: { authType: 'consent', custom: { usedAt: services.ports.now() } },
      expectedGeneration: 0,
    })
    if (mark === undefined) return undefined
    const tokens = await exchangeCode(services, config, { code, codeVerifier, redirectUri })
    return tokenCredential(config, tokens, { now: services.ports.now() })
  }
}

/** Requests a credential that needs no user: client credentials, a service account, or a custom exchanger. */
export function ownSource(need: CredentialNeed, stored: AuthCredential | undefined): TokenSource | undefined {
  const { services, config } = need
  const { authScheme: scheme } = config
  if (scheme.type === 'custom') return () => callExchanger(need, scheme.name, stored)
  if (scheme.type === 'serviceAccount') {
    return async () => {
      const tokens = await requestServiceAccountToken(services, config)
      return tokenCredential(config, tokens, { now: services.ports.now() })
    }
  }
  if (scheme.type !== 'oauth2' || !scheme.flows.clientCredentials) return undefined
  // A public client has no credentials of its own: its user must consent.
  const { clientSecret, privateKey } = config.rawAuthCredential?.oauth2 ?? {}
  if (canAskUser(config) && clientSecret === undefined && privateKey === undefined) return undefined
  return async () => {
    const tokens = await requestClientToken(services, config)
    return tokenCredential(config, tokens, { now: services.ports.now(), flow: 'clientCredentials' })
  }
}

/** Can the user consent, with an authorization URL? */
export function canAskUser({ authScheme: scheme }: CheckedAuthConfig): boolean {
  if (scheme.type === 'oauth2') return scheme.flows.authorizationCode !== undefined
  return scheme.type === 'openIdConnect'
}

async function callExchanger(
  { services, config, key }: CredentialNeed,
  scheme: string,
  stored: AuthCredential | undefined,
): Promise<AuthCredential> {
  const { exchangers = {}, userId, fetch = globalThis.fetch } = services
  const exchange = Object.hasOwn(exchangers, scheme) ? exchangers[scheme] : undefined
  if (exchange === undefined) {
    throw new AuthError(
      `The custom scheme ${quoteKey(scheme)} has no exchanger. Register a function under this name in exchangers.`,
    )
  }
  const credential = readCustom(await exchange({ authConfig: config, stored, userId, fetch }))
  if (credential) return credential
  throw new AuthError(
    `The exchanger ${quoteKey(scheme)} returned no credential for ${quoteKey(key)}. Return an object with authType, and with expiresAt in seconds if it expires.`,
  )
}
