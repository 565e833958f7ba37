import type { ClientAuth } from 'oauth4webapi'
import { encodeBase64 } from '../../../core/base/base64.ts'
import { messageOf } from '../../../core/error/error.ts'
import { AuthError } from '../auth-error.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { findProvider } from '../config/providers.ts'
import type { OAuthLibrary } from './oauth-library.ts'
import { importSigningKey } from './private-key.ts'
import type { ServerMetadata } from './server-metadata.ts'

/**
 * How the client proves its identity: as `tokenEndpointAuthMethod` says, else with its private key, else with its secret.
 * The secret is sent form-encoded as `client_secret_basic`, unless the server excludes it. Throws AuthError.
 */
export async function clientAuthentication(
  oauth: OAuthLibrary,
  config: CheckedAuthConfig,
  server: ServerMetadata,
): Promise<ClientAuth> {
  const { clientSecret: secret, privateKey, tokenEndpointAuthMethod } = config.rawAuthCredential?.oauth2 ?? {}
  const method = tokenEndpointAuthMethod ?? defaultMethod(config, server)
  if (method === 'none') return oauth.None() // a public client
  if (method === 'private_key_jwt' && privateKey !== undefined) return await signedBy(oauth, privateKey, server)
  if (method === 'client_secret_basic' && secret !== undefined) return basicAuthentication(secret)
  if (method === 'client_secret_post' && secret !== undefined) return oauth.ClientSecretPost(secret)
  if (method === undefined) {
    throw new AuthError(
      `The authorization server ${server.issuer} does not accept client secrets. Register another kind of client.`,
    )
  }
  const missing = method === 'private_key_jwt' ? 'privateKey' : 'clientSecret'
  throw new AuthError(`The client authenticates with ${method}, but has no ${missing}. Set ${missing}.`)
}

/** The id of the client. Throws AuthError if the configuration has none. */
export function clientIdOf(config: CheckedAuthConfig): string {
  const clientId = config.rawAuthCredential?.oauth2?.clientId
  if (clientId === undefined) throw new AuthError('There is no clientId. Set rawAuthCredential.oauth2.clientId.')
  return clientId
}

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const

/** The first method that the credential and the server allow. */
function defaultMethod(
  config: CheckedAuthConfig,
  { clientAuthentications }: ServerMetadata,
): 'private_key_jwt' | (typeof SECRET_METHODS)[number] | undefined {
  const { clientSecret, privateKey } = config.rawAuthCredential?.oauth2 ?? {}
  if (privateKey !== undefined) return 'private_key_jwt'
  if (clientSecret === undefined) return 'none'
  const ofProvider = findProvider(config.provider)?.clientAuthentication ?? 'client_secret_basic'
  const methods = clientAuthentications ?? [ofProvider]
  return SECRET_METHODS.find((one) => methods.includes(one))
}

/**
 * `client_secret_basic` with the id and the secret form-encoded (RFC 6749, 2.3.1). `oauth.ClientSecretBasic` also encodes
 * `-`, `_` and `.`, which servers that do not decode refuse.
 */
function basicAuthentication(secret: string): ClientAuth {
  return (_server, { client_id }, _body, headers) => {
    const credentials = `${formEncode(client_id)}:${formEncode(secret)}`
    headers.set('authorization', `Basic ${encodeBase64(new TextEncoder().encode(credentials))}`)
  }
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

/** RFC 7523: the assertion is meant for the issuer. If the issuer is not known, it is meant for the token endpoint. */
async function signedBy(oauth: OAuthLibrary, privateKey: string, server: ServerMetadata): Promise<ClientAuth> {
  const key = await importSigningKey(privateKey).catch((error: unknown) => {
    throw new AuthError(`The token request could not be signed: ${messageOf(error)}`)
  })
  if (server.knowsIssuer) return oauth.PrivateKeyJwt(key)
  return oauth.PrivateKeyJwt(key, {
    [oauth.modifyAssertion]: (_header: unknown, payload: Record<string, unknown>) => {
      payload.aud = server.tokenEndpoint
    },
  })
}
