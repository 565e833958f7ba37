// A client that was registered at an authorization server (RFC 7591). It is stored for the user and bound to the issuer, so
// that a later process refreshes tokens with the same client, and no other server gets its secret.
import type { OAuthClientInformationFull } from '@modelcontextprotocol/client'
import { isRecord } from '../../../core/base/json.ts'
import type { TokenEndpointAuthMethod } from '../../../core/content/auth.ts'
import { AuthError } from '../../../services/auth/auth-error.ts'
import { type AuthRecord, clientKeyOf, loadRecord, saveRecord } from '../../../services/auth/auth-records.ts'
import { digestOf } from '../../../services/auth/digest.ts'
import type { DiscoveredServer } from './discover-server.ts'
import { noOAuth } from './no-oauth.ts'
import { type ChosenClient, type ClientNeed, methodFor, type OAuthClient } from './oauth-client.ts'
import { checkTarget } from './target-guard.ts'

/** The stored client of an authorization server, else a new one. Throws AuthError. */
export async function registeredClient(need: ClientNeed, redirectUri: string): Promise<ChosenClient> {
  const { services, server } = need
  const registration = clientKeyOf(await digestOf('registered', issuerOf(server), redirectUri))
  const row = await loadRecord(services, registration)
  const known = row && readClient(row, server, services.ports.now())
  if (known) return { client: { ...known, redirectUri }, registration }
  const { client, expiresAt } = await register(need, redirectUri)
  const credential = {
    authType: 'oauthClient',
    oauth2: client,
    custom: { issuer: issuerOf(server), ...(expiresAt > 0 && { expiresAt }) },
  }
  const expectedGeneration = row?.generation ?? 0
  if ((await saveRecord(services, { key: registration, credential, expectedGeneration })) !== undefined)
    return { client, registration }
  // another process registered at the same time: both use its client
  const other = await loadRecord(services, registration)
  const first = other && readClient(other, server, services.ports.now())
  return { client: first ? { ...first, redirectUri } : client, registration }
}

interface Registered {
  readonly client: OAuthClient
  /** When the secret expires, in seconds. 0: never. */
  readonly expiresAt: number
}

async function register(
  { discovery, server, clientMetadata, services }: ClientNeed,
  redirectUri: string,
): Promise<Registered> {
  const { library, fetch, rules } = discovery
  const { metadata } = server
  if (metadata && metadata.registration_endpoint === undefined) {
    throw new AuthError(
      `The authorization server ${new URL(server.url).origin} does not register clients. Register one by hand, and set rawAuthCredential.oauth2.clientId.`,
    )
  }
  if (metadata?.registration_endpoint) checkTarget(metadata.registration_endpoint, 'registration endpoint', rules)
  const { clientName = services.appName, clientUri } = clientMetadata
  const document = library.resolveClientMetadata({
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: clientName,
      ...(clientUri !== undefined && { client_uri: clientUri }),
      redirect_uris: [redirectUri],
      response_types: ['code'],
      token_endpoint_auth_method: methodFor(server, { clientSecret: 'a secret that the server will issue' }),
    },
  } as Parameters<typeof library.resolveClientMetadata>[0]) // it reads these two members
  try {
    const options = { clientMetadata: document, fetchFn: fetch, ...(metadata && { metadata }) }
    return readRegistered(server, redirectUri, await library.registerClient(server.url, options))
  } catch (error) {
    if (error instanceof AuthError) throw error
    if (!metadata) throw noOAuth(rules.serverUrl)
    throw new AuthError(
      `The authorization server ${new URL(server.url).origin} did not register a client. Register one by hand, and set rawAuthCredential.oauth2.clientId.`,
    )
  }
}

const METHODS: readonly string[] = [
  'client_secret_basic',
  'client_secret_post',
  'none',
] satisfies TokenEndpointAuthMethod[]

function readRegistered(server: DiscoveredServer, redirectUri: string, given: OAuthClientInformationFull): Registered {
  const { client_id: clientId, client_secret: clientSecret, token_endpoint_auth_method: method } = given
  const usable = [clientId, clientSecret ?? 'none'].every((text) => /^[ -~]{1,4096}$/.test(text))
  if (!usable) throw new AuthError('The authorization server registered a client with an invalid id or secret.')
  const isKnown = method !== undefined && METHODS.includes(method)
  const client: OAuthClient = {
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    redirectUri,
    tokenEndpointAuthMethod: isKnown ? (method as TokenEndpointAuthMethod) : methodFor(server, { clientSecret }),
  }
  return { client, expiresAt: given.client_secret_expires_at ?? 0 }
}

/** Reads a stored client. Undefined if it belongs to another issuer, has expired, or has a wrong shape. */
function readClient({ credential }: AuthRecord, server: DiscoveredServer, now: number): OAuthClient | undefined {
  if (!isRecord(credential) || credential.authType !== 'oauthClient') return undefined
  const { oauth2, custom } = credential
  if (!isRecord(oauth2) || !isRecord(custom) || custom.issuer !== issuerOf(server)) return undefined
  if (typeof custom.expiresAt === 'number' && custom.expiresAt * 1000 <= now) return undefined
  const { clientId, clientSecret, tokenEndpointAuthMethod: method } = oauth2
  if (typeof clientId !== 'string' || typeof method !== 'string' || !METHODS.includes(method)) return undefined
  return {
    clientId,
    ...(typeof clientSecret === 'string' && { clientSecret }),
    tokenEndpointAuthMethod: method as TokenEndpointAuthMethod,
  }
}

function issuerOf({ issuer, url }: DiscoveredServer): string {
  return issuer ?? url
}
