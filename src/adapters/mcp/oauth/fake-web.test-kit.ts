// For tests only: a web of an MCP server and its authorization server, as an injected `fetch`. Nothing is connected.
import type { JsonObject } from '../../../core/base/json.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { InMemoryCredentialService } from '../../../services/credential/in-memory.ts'
import { createToolContext } from '../../testing/tool-context.ts'
import { type DiscoverAuthOptions, discoverAuth } from './discover-auth.ts'

/** One request that was sent. */
interface SentRequest {
  /** Its URL. */
  readonly url: string
  /** Its method and headers. */
  readonly init: RequestInit
}

/** The URL of the MCP server. */
export const SERVER_URL = 'https://mcp.example.com/mcp'
/** The issuer of its authorization server. */
export const ISSUER = 'https://auth.example.com'
/** Where the user is sent after the consent. */
export const REDIRECT_URI = 'https://app.example.com/callback'

const RESOURCE_METADATA = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'

/** A web whose documents a test changes. */
export class FakeWeb {
  /** The responses by URL: a JSON object, or a function. */
  readonly pages: Map<string, JsonObject | (() => Response | Promise<Response>)> = new Map()
  /** The requests, in order. */
  readonly sent: SentRequest[] = []
  /** The metadata of the MCP server. */
  readonly resource: JsonObject
  /** The metadata of the authorization server. */
  readonly metadata: JsonObject
  /** The credentials of all users. */
  readonly credentialService: InMemoryCredentialService = new InMemoryCredentialService()
  #clients = 0

  constructor(changes: { resource?: JsonObject; metadata?: JsonObject } = {}) {
    this.resource = { resource: SERVER_URL, authorization_servers: [ISSUER], ...changes.resource }
    this.metadata = metadataOf(ISSUER, changes.metadata)
    this.pages.set(RESOURCE_METADATA, this.resource)
    this.addIssuer(ISSUER, this.metadata)
  }

  /** Publishes an authorization server. */
  addIssuer(issuer: string, metadata: JsonObject = metadataOf(issuer)): void {
    this.pages.set(`${issuer}/.well-known/oauth-authorization-server`, metadata)
    this.pages.set(`${issuer}/register`, () =>
      Response.json({ redirect_uris: [REDIRECT_URI], client_id: `client-${++this.#clients}`, client_secret: 'issued' }),
    )
  }

  /** Sends a request to the web. A page that does not exist is 404. */
  readonly fetch: typeof fetch = async (url, init = {}) => {
    this.sent.push({ url: String(url), init })
    const page = this.pages.get(String(url))
    if (typeof page === 'function') return await page()
    return page ? Response.json(page) : new Response('not found', { status: 404 })
  }

  /** Discovers the authorization of the MCP server for a user. */
  discover(options: Partial<DiscoverAuthOptions> & { userId?: string } = {}): Promise<AuthConfig> {
    const { userId = 'ada', ...discovery } = options
    const { credentialService, fetch } = this
    return discoverAuth({
      serverUrl: new URL(SERVER_URL),
      challenge: undefined,
      auth: undefined,
      context: createToolContext({ userId, credentialService }),
      clientMetadata: { redirectUris: [REDIRECT_URI] },
      fetch,
      ...discovery,
    })
  }

  /** The hosts that got a request. */
  hosts(): string[] {
    return [...new Set(this.sent.map(({ url }) => new URL(url).hostname))]
  }

  /** The requests to a URL. */
  countOf(url: string): number {
    return this.sent.filter((one) => one.url === url).length
  }
}

/** The metadata of an authorization server. */
export function metadataOf(issuer: string, changes: JsonObject = {}): JsonObject {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    ...changes,
  }
}
