import type { JsonObject } from '../../../core/base/json.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { AuthError } from '../auth-error.ts'

/** The tokens of a credential: `accessToken`, `refreshToken`, `idToken`, `expiresAt`, `scopes`. */
export type Tokens = NonNullable<AuthCredential['oauth2']>

/** A longer life is not believed. */
const MAX_LIFE_SECONDS = 10 * 365 * 86_400

/**
 * The tokens of a response. `previous` are the tokens that a refresh replaces: what the server does not return again stays.
 * Throws AuthError if a token cannot be sent in a header.
 */
export function readTokens(
  response: JsonObject,
  options: { now: number; server: string; scopeSeparator?: string | undefined; previous?: Tokens | undefined },
): Tokens {
  const { now, server, previous } = options
  const accessToken = tokenOf(response.access_token, server)
  const refreshToken = tokenOf(response.refresh_token, server) ?? previous?.refreshToken
  const idToken = tokenOf(response.id_token, server) ?? previous?.idToken
  const expiresAt = expiryOf(response.expires_in, now)
  const scopes = scopesOf(response.scope, options.scopeSeparator) ?? previous?.scopes
  return {
    ...(accessToken !== undefined && { accessToken }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(idToken !== undefined && { idToken }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(scopes !== undefined && { scopes }),
  }
}

function tokenOf(value: unknown, server: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string' && /^[!-~]+$/.test(value)) return value
  throw new AuthError(`The authorization server ${server} returned a token with invalid characters. Check the URL.`)
}

/** Seconds since the epoch. A token without a valid life does not expire. */
function expiryOf(expiresIn: unknown, now: number): number | undefined {
  const seconds = typeof expiresIn === 'string' ? Number.parseFloat(expiresIn) : expiresIn
  if (typeof seconds !== 'number' || !(seconds >= 0)) return undefined
  return Math.floor(now / 1000 + Math.min(seconds, MAX_LIFE_SECONDS))
}

function scopesOf(scope: unknown, separator = ' '): string[] | undefined {
  if (typeof scope !== 'string') return undefined
  const scopes = scope.split(separator).filter((one) => one !== '')
  return scopes.length ? scopes : undefined
}
