import type { ClientAuth } from 'oauth4webapi'
import { AuthError } from '../auth-error.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { findProvider } from '../config/providers.ts'
import type { OAuthLibrary } from './oauth-library.ts'
import type { ServerMetadata } from './server-metadata.ts'

/** How the client proves its identity: form-encoded `client_secret_basic`, unless the server excludes it. */
export function clientAuthentication(
  oauth: OAuthLibrary,
  config: CheckedAuthConfig,
  { clientAuthentications, issuer }: ServerMetadata,
): ClientAuth {
  const secret = config.rawAuthCredential?.oauth2?.clientSecret
  if (secret === undefined) return oauth.None() // a public client
  const ofProvider = findProvider(config.provider)?.clientAuthentication ?? 'client_secret_basic'
  const methods = clientAuthentications ?? [ofProvider]
  if (methods.includes('client_secret_basic')) return oauth.ClientSecretBasic(secret)
  if (methods.includes('client_secret_post')) return oauth.ClientSecretPost(secret)
  if (methods.includes('none')) return oauth.None()
  throw new AuthError(
    `The authorization server ${issuer} does not accept client secrets. Register another kind of client.`,
  )
}

/** The id of the client. Throws AuthError if the configuration has none. */
export function clientIdOf(config: CheckedAuthConfig): string {
  const clientId = config.rawAuthCredential?.oauth2?.clientId
  if (clientId === undefined) throw new AuthError('There is no clientId. Set rawAuthCredential.oauth2.clientId.')
  return clientId
}
