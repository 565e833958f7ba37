import { clip } from '../../../core/base/limits.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { AuthError } from '../../../services/auth/auth-error.ts'
import { loadRecord } from '../../../services/auth/auth-records.ts'
import type { AuthServices } from '../../../services/auth/auth-services.ts'
import type { CheckedAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../../services/auth/config/credential-key.ts'
import { requestedScopes } from '../../../services/auth/config/requested-scopes.ts'
import { endRefusedToken, isSameToken } from '../../../services/auth/stored/refused-token.ts'
import { isTokenFor, readStoredCredential, requestedScopesOf } from '../../../services/auth/stored/stored-credential.ts'
import type { Challenge } from './read-challenge.ts'

const MAX_SHOWN = 120

/** What a server refused. */
interface Refusal {
  /** The MCP server. */
  readonly serverUrl: URL
  /** What the server asked for. */
  readonly challenge: Challenge
  /** The credential that was sent. */
  readonly credential?: AuthCredential | undefined
  /** Scopes that were requested before. */
  readonly earlierScopes?: readonly string[] | undefined
}

/**
 * The configuration that answers a refusal. If a scope is missing, it requests the scopes of the stored token and the missing
 * ones. Throws AuthError if the stored token was already requested with them: another consent would change nothing. Also
 * throws it for a refused key or password, which only the developer can change.
 * Otherwise the refused token is ended.
 */
export async function answerRefusal(
  services: AuthServices,
  config: CheckedAuthConfig,
  refusal: Refusal,
): Promise<CheckedAuthConfig> {
  const { challenge, credential, earlierScopes = [], serverUrl } = refusal
  const { type } = config.authScheme
  if (credential && (type === 'apiKey' || type === 'http'))
    throw new AuthError(
      `The MCP server ${serverUrl.origin} answered with status 401 (Unauthorized): it refuses the credential of the option auth. Check its value, and the header of its authScheme.`,
    )
  if (type !== 'oauth2' && type !== 'openIdConnect') return config
  if (!challenge.isInsufficientScope) {
    if (credential) await endRefusedToken(services, config, credential)
    return config
  }
  const row = await loadRecord(services, await credentialKeyOf(config))
  const stored = row && readStoredCredential(row.credential, config.authScheme)
  const earlier = stored ? requestedScopesOf(stored) : []
  const scopes = [...new Set([...earlierScopes, ...earlier, ...requestedScopes(config)])]
  const wanted = { ...config, scopes, requiredScopes: challenge.scopes }
  const isRefused = stored && (credential === undefined || isSameToken(stored, credential))
  if (!isRefused || !isTokenFor(wanted, stored)) return wanted
  throw new AuthError(
    `The MCP server ${serverUrl.origin} refuses a token for a missing scope, although the token was requested with ${
      challenge.scopes.length > 0
        ? `"${clip(challenge.scopes.join(' '), MAX_SHOWN)}"`
        : 'all scopes that the server names'
    }. Ask the operator of the server.`,
  )
}
