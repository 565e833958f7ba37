// Which OAuth client asks for the token: the one that the developer registered, else the one of a client metadata document,
// else one that is registered now.

import { isRecord } from '../../../core/base/json.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { AuthError } from '../../../services/auth/auth-error.ts'
import { clientKeyOf, loadRecord, saveRecord } from '../../../services/auth/auth-records.ts'
import type { AuthServices } from '../../../services/auth/auth-services.ts'
import { digestOf } from '../../../services/auth/digest.ts'
import { noOAuth } from './no-oauth.ts'
import { type ChosenClient, type ClientNeed, methodFor } from './oauth-client.ts'
import { registeredClient } from './registered-client.ts'

/** Chooses the client for an authorization server. Throws AuthError or INVALID_CONFIG. */
export async function chooseClient(need: ClientNeed): Promise<ChosenClient> {
  const { configured, server, clientMetadata } = need
  const redirectUri = clientMetadata.redirectUris?.[0] ?? configured?.redirectUri
  if (configured?.clientId !== undefined) {
    await checkIssuer(need)
    const { clientId, clientSecret, privateKey, tokenEndpointAuthMethod } = configured
    const client = {
      clientId,
      ...(clientSecret !== undefined && { clientSecret }),
      ...(privateKey !== undefined && { privateKey }),
      ...(redirectUri !== undefined && { redirectUri }),
      tokenEndpointAuthMethod: tokenEndpointAuthMethod ?? methodFor(server, { clientSecret, privateKey }),
    }
    return { client }
  }
  if (redirectUri === undefined && !server.metadata) throw noOAuth(need.discovery.rules.serverUrl)
  if (redirectUri === undefined) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      'The MCP server asks for the consent of the user, but there is no redirect URI. Set clientMetadata.redirectUris.',
    )
  }
  const { clientMetadataUrl } = clientMetadata
  if (clientMetadataUrl !== undefined && !need.discovery.library.isHttpsUrl(clientMetadataUrl)) {
    const cure = 'Set it to the address of the document, such as "https://app.example.com/client.json".'
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `clientMetadata.clientMetadataUrl must be an https URL with a path. ${cure}`,
    )
  }
  if (clientMetadataUrl !== undefined && server.metadata?.client_id_metadata_document_supported) {
    return { client: { clientId: clientMetadataUrl, redirectUri, tokenEndpointAuthMethod: 'none' } }
  }
  return await registeredClient(need, redirectUri)
}

/**
 * The client of the developer belongs to one authorization server: `issuer` of the credential, else the first one that was
 * discovered for the user. An MCP server that names another one would get the secret of the client.
 */
async function checkIssuer({ services, server, configured, discovery }: ClientNeed): Promise<void> {
  const issuer = server.issuer ?? server.url
  const known = configured?.issuer ?? (await firstIssuer(services, discovery.rules.serverUrl, configured, issuer))
  if (known === issuer) return
  throw new AuthError(
    `The MCP server ${discovery.rules.serverUrl.origin} has changed its authorization server. The client "${configured?.clientId}" belongs to another one and is not used. Register a client there, and set rawAuthCredential.oauth2.issuer.`,
  )
}

async function firstIssuer(
  services: AuthServices,
  serverUrl: URL,
  configured: AuthCredential['oauth2'],
  issuer: string,
): Promise<string> {
  const key = clientKeyOf(await digestOf('configured', serverUrl.origin + serverUrl.pathname, configured?.clientId))
  const credential = { authType: 'oauthClient', custom: { issuer } }
  if ((await saveRecord(services, { key, credential, expectedGeneration: 0 })) !== undefined) return issuer
  const stored = (await loadRecord(services, key))?.credential
  const known = isRecord(stored) && isRecord(stored.custom) ? stored.custom.issuer : undefined
  return typeof known === 'string' ? known : 'a damaged record'
}
