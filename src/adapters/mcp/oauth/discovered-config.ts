import type { AuthConfig, AuthScheme } from '../../../core/content/auth.ts'
import { type CheckedAuthConfig, checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import { digestOf } from '../../../services/auth/digest.ts'
import type { DiscoveredServer } from './discover-server.ts'
import type { OAuthClient } from './oauth-client.ts'
import { type Challenge, readScopes } from './read-challenge.ts'

/** What was discovered. */
interface Discovered {
  /** The MCP server. */
  readonly serverUrl: URL
  /** Its authorization server. */
  readonly server: DiscoveredServer
  /** The client. */
  readonly client: OAuthClient
  /** The key of the record of a client that was registered dynamically. */
  readonly registration?: string | undefined
  /** What the MCP server asked for. */
  readonly challenge: Challenge
  /** What the developer configured. */
  readonly auth: AuthConfig | undefined
}

/** The configuration for the gate. Its key names the issuer, the resource and the client, but no scope. */
export async function discoveredConfig(discovered: Discovered): Promise<CheckedAuthConfig> {
  const { server, serverUrl, client, registration, auth } = discovered
  const scopes = scopesOf(discovered)
  const resource = auth?.resource ?? server.resource
  const identity = [server.issuer ?? server.tokenUrl, resource ?? serverUrl.origin, client.clientId]
  return checkAuthConfig(
    {
      authScheme: schemeOf(discovered),
      rawAuthCredential: {
        authType: 'oauth2',
        oauth2: client,
        ...(registration !== undefined && { custom: { registration } }),
      },
      credentialKey: auth?.credentialKey ?? `mcp_${(await digestOf(...identity)).slice(0, 32)}`,
      ...(scopes.length > 0 && { scopes }),
      ...(resource !== undefined && { resource }),
    },
    `The MCP server ${serverUrl.origin}`,
  )
}

function schemeOf({ server, client }: Discovered): AuthScheme {
  const { issuer, authorizationUrl, tokenUrl, metadata } = server
  const sendsIssuer = metadata?.authorization_response_iss_parameter_supported === true
  return {
    type: 'oauth2',
    flows: isOwnClient(client)
      ? { clientCredentials: { tokenUrl } }
      : { authorizationCode: { authorizationUrl, tokenUrl } },
    ...(issuer !== undefined && { issuer, sendsIssuer }),
  }
}

/** A client with a secret or a key, and without a redirect URI, gets a token for itself: no user can consent. */
function isOwnClient({ clientSecret, privateKey, redirectUri }: OAuthClient): boolean {
  return redirectUri === undefined && (clientSecret !== undefined || privateKey !== undefined)
}

/** The scopes of the challenge, else of the MCP server, else of the developer; with a refresh token if the server has them. */
function scopesOf({ challenge, server, auth, client }: Discovered): readonly string[] {
  const configured = auth?.scopes ?? auth?.rawAuthCredential?.oauth2?.scopes ?? []
  const [scopes = []] = [challenge.scopes, server.resourceScopes, configured].filter((one) => one.length > 0)
  const supported = readScopes(server.metadata?.scopes_supported)
  const canRefresh = supported.includes('offline_access') && scopes.length > 0 && !isOwnClient(client)
  return canRefresh ? [...new Set([...scopes, 'offline_access'])] : scopes
}
