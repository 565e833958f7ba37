// For tests only: an MCP server on 127.0.0.1 that a real authorization server protects.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  type AuthInfo,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from '../../../services/auth/authorization-server.test-kit.ts'

/** An MCP server that is running. Dispose it with `await using`. */
export interface ProtectedServer extends AsyncDisposable {
  /** Its URL. */
  readonly url: URL
  /** Its authorization server. */
  readonly issuer: AuthorizationServer
  /** The access tokens that it got, in order, without repetitions. */
  readonly tokens: readonly string[]
  /** Refuses an access token from now on, although it has not expired. */
  refuse(token: string): void
  /** Refuses every access token from now on. */
  refuseAll(): void
}

/**
 * Starts an MCP server with the tools `read_mail` and `send_mail`. Listing needs the scope `mail.read`, and `send_mail`
 * needs `mail.write`. The authorization server registers clients and issues tokens for this server only.
 */
export async function startProtectedServer(options: AuthorizationServerOptions = {}): Promise<ProtectedServer> {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  const issuer = await startAuthorizationServer({ ...options, configuration: configurationFor(url) })
  const tokens = new Set<string>()
  const refused = new Set<string>()
  const served = { url, issuer, tokens, refused }
  http.on('request', toNodeHandler({ fetch: (request) => respond(request, served) }))
  return {
    url,
    issuer,
    refuse: (token) => void refused.add(token),
    refuseAll: () => void refused.add('*'),
    get tokens() {
      return [...tokens]
    },
    [Symbol.asyncDispose]: async () => {
      await close(http)
      await issuer.close()
    },
  }
}

const SCOPES = 'mail.read mail.write'

function configurationFor(url: URL): NonNullable<AuthorizationServerOptions['configuration']> {
  const info = { scope: SCOPES, audience: url.href, accessTokenFormat: 'opaque' as const }
  return {
    scopes: ['openid', 'offline_access'],
    features: {
      devInteractions: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async () => true },
      introspection: { enabled: true, allowedPolicy: async () => true },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_context, resource) => {
          if (resource === url.href) return info
          throw new Error('unknown resource')
        },
        useGrantedResource: async () => true,
      },
    },
  }
}

interface Served {
  readonly url: URL
  readonly issuer: AuthorizationServer
  readonly tokens: Set<string>
  readonly refused: ReadonlySet<string>
}

async function respond(request: Request, served: Served): Promise<Response> {
  const { url, issuer } = served
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url)
  if (request.url === resourceMetadataUrl) {
    return Response.json({ resource: url.href, authorization_servers: [issuer.issuer] })
  }
  const body = await request.clone().text()
  const requiredScopes = [/"send_mail"/.test(body) ? 'mail.write' : 'mail.read']
  const verifier = { verifyAccessToken: (token: string) => verify(token, served) }
  const auth = await requireBearerAuth({ verifier, requiredScopes, resourceMetadataUrl })(request)
  if (auth instanceof Response) return auth
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'mail', version: '1.0.0' })
    const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
    server.registerTool('read_mail', { description: 'Read mail' }, () => text(`mail of ${auth.clientId}`))
    server.registerTool('send_mail', { description: 'Send mail' }, () => text('sent'))
    return server
  })
  return await handler.fetch(request)
}

async function verify(token: string, { url, issuer, tokens, refused }: Served): Promise<AuthInfo> {
  tokens.add(token)
  const response = await fetch(`${issuer.issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: issuer.basicHeader() },
    body: new URLSearchParams({ token }),
  })
  const found = await response.json()
  const isValid = found.active && found.aud === url.href && !refused.has(token) && !refused.has('*')
  if (!isValid) throw new OAuthError(OAuthErrorCode.InvalidToken, 'invalid token')
  return { token, clientId: found.client_id, scopes: String(found.scope ?? '').split(' '), expiresAt: found.exp }
}

async function close(http: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => http.close(() => resolve()))
  http.closeAllConnections()
  await closed
}
