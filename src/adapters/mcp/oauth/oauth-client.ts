import type { AuthCredential, TokenEndpointAuthMethod } from '../../../core/content/auth.ts'
import type { AuthServices } from '../../../services/auth/auth-services.ts'
import type { McpClientMetadata } from '../mcp-toolset-options.ts'
import type { DiscoveredServer, Discovery } from './discover-server.ts'

/** An OAuth client. */
export type OAuthClient = NonNullable<AuthCredential['oauth2']> & {
  /** The id of the client. */
  readonly clientId: string
}

/** The client of a request for a token. */
export interface ChosenClient {
  /** The client. */
  readonly client: OAuthClient
  /** The key of the record of a client that was registered dynamically. */
  readonly registration?: string
}

/** What the choice of a client depends on. */
export interface ClientNeed {
  /** The user and the store. */
  readonly services: AuthServices
  /** Discovery of the server. */
  readonly discovery: Discovery
  /** The authorization server. */
  readonly server: DiscoveredServer
  /** The client that the developer configured. */
  readonly configured: AuthCredential['oauth2']
  /** What the client says about the application. */
  readonly clientMetadata: McpClientMetadata
}

/** How a client authenticates: with its key, else with its secret in the way that the server prefers. */
export function methodFor(
  { metadata }: DiscoveredServer,
  { clientSecret, privateKey }: { clientSecret?: string | undefined; privateKey?: string | undefined },
): TokenEndpointAuthMethod {
  if (privateKey !== undefined) return 'private_key_jwt'
  if (clientSecret === undefined) return 'none'
  const supported = metadata?.token_endpoint_auth_methods_supported ?? []
  const [method] = (['client_secret_basic', 'client_secret_post', 'none'] as const).filter((one) =>
    supported.includes(one),
  )
  return method ?? 'client_secret_basic'
}
