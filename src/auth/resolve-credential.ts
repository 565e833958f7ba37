import type { AuthCredential } from '../content/auth.ts'
import type { AuthServices } from './auth-services.ts'
import type { CheckedAuthConfig } from './check-auth-config.ts'

/** The outcome of resolving a credential. */
export type CredentialOutcome =
  | { readonly status: 'ready'; readonly credential: AuthCredential }
  | { readonly status: 'needs-auth' }
  | { readonly status: 'failed'; readonly reason: string }

/** Options of `getCredential`. */
export interface CredentialOptions {
  /** The redirect URI of the authorization code in the raw credential. */
  readonly redirectUri?: string | undefined
  /** Seconds before expiry at which a token is refreshed. Default 300. */
  readonly refreshBuffer?: number | undefined
  /** Sends token requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

/**
 * Resolves a credential: a simple raw credential, else the stored token (refreshed when needed), else a code exchange, else
 * client credentials or a service account, else `needs-auth`. Never throws for a failed request: the outcome is `failed`.
 */
export function resolveCredential(
  _services: AuthServices,
  _key: string,
  _config: CheckedAuthConfig,
  _options: CredentialOptions = {},
): Promise<CredentialOutcome> {
  throw new Error('not implemented')
}
