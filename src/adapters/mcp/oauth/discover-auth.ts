import type { AuthConfig, AuthCredential } from '../../../core/content/auth.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyContext } from '../../../engine/context/context.ts'
import { authServicesOf } from '../../../engine/context/credentials.ts'
import { hostOf } from '../../../engine/context/host-of.ts'
import type { AuthServices } from '../../../services/auth/auth-services.ts'
import { type CheckedAuthConfig, checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../../services/auth/config/credential-key.ts'
import type { McpClientMetadata } from '../mcp-toolset-options.ts'
import { answerRefusal } from './answer-refusal.ts'
import { chooseClient } from './choose-client.ts'
import { discoverServer } from './discover-server.ts'
import { discoveredConfig } from './discovered-config.ts'
import { discoveryFetch } from './discovery-fetch.ts'
import { loadMcpClient, type McpClientLibrary } from './mcp-client-library.ts'
import { type Challenge, readChallenge } from './read-challenge.ts'
import { systemResolve } from './system-resolve.ts'
import type { ResolveHost } from './target-guard.ts'

/** Options of `discoverAuth()`. */
export interface DiscoverAuthOptions {
  /** The MCP server. */
  readonly serverUrl: URL
  /** The `WWW-Authenticate` header of the response 401 or 403. Undefined if there was none. */
  readonly challenge: string | undefined
  /** The credential that the server refused. Undefined if none was sent. */
  readonly credential?: AuthCredential | undefined
  /** The `auth` option of the toolset. Undefined, or only a client or scopes: the rest is discovered. */
  readonly auth: AuthConfig | undefined
  /** Scopes that were requested before. The scopes of the stored token are known without it. */
  readonly earlierScopes?: readonly string[] | undefined
  /** The context of the listing or the call. */
  readonly context: ReadonlyContext
  /** Sends requests. It resolves host names itself, so `resolve` is then not set by default. */
  readonly fetch?: typeof fetch | undefined
  /** Returns the addresses of a host name, to refuse names of private addresses. Default: the resolver of Node. */
  readonly resolve?: ResolveHost | undefined
  /** May discovery contact private addresses, because the authorization server is in the network of the operator? */
  readonly allowPrivate?: boolean | undefined
  /** What the authorization server learns about the application. */
  readonly clientMetadata?: McpClientMetadata | undefined
  /** Aborts discovery. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Finds out what credential an MCP server wants after it refused a request. A refused token is ended, so that resolving the
 * configuration refreshes it or asks the user. Throws AuthError if the server cannot be used, also if it refuses a token for
 * a scope with which the token was requested.
 */
export async function discoverAuth(options: DiscoverAuthOptions): Promise<AuthConfig> {
  const { auth, signal } = options
  const services = servicesOf(options.context)
  const library = await loadMcpClient()
  const challenge = readChallenge(library, options.challenge)
  try {
    const config =
      auth?.authScheme || auth?.provider !== undefined
        ? await explicitConfig(auth)
        : await discover(options, { services, library, challenge })
    return await answerRefusal(services, config, { ...options, challenge })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/** The configuration of the developer. Its key does not change when scopes are added. */
async function explicitConfig(auth: AuthConfig): Promise<CheckedAuthConfig> {
  const config = checkAuthConfig(auth, 'The MCP server')
  return { ...config, credentialKey: await credentialKeyOf(config) }
}

async function discover(
  options: DiscoverAuthOptions,
  { services, library, challenge }: { services: AuthServices; library: McpClientLibrary; challenge: Challenge },
): Promise<CheckedAuthConfig> {
  const { serverUrl, auth, fetch, signal, clientMetadata = {} } = options
  const resolve = options.resolve ?? (fetch ? undefined : systemResolve())
  const rules = { serverUrl, allowPrivate: options.allowPrivate, resolve }
  const discovery = { library, rules, fetch: discoveryFetch({ rules, fetch, ports: services.ports, signal }) }
  const server = await discoverServer(discovery, challenge.metadataUrl)
  const configured = auth?.rawAuthCredential?.oauth2
  const chosen = await chooseClient({ services, discovery, server, configured, clientMetadata })
  return await discoveredConfig({ ...chosen, serverUrl, server, challenge, auth })
}

function servicesOf(context: ReadonlyContext): AuthServices {
  const host = hostOf(context)
  if (host) return authServicesOf(host)
  throw new ToolwrightError(
    'INVALID_REQUEST',
    'The MCP server needs a credential, which only a context of a run can request. Pass the context of listTools or run.',
  )
}
