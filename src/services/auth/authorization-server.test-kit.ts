// For tests only: a real authorization server on 127.0.0.1, with login and consent pages, rotation and reuse detection.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type ClientMetadata, type Configuration, type KoaContextWithOIDC } from 'oidc-provider'
import type { AuthConfig } from '../../core/content/auth.ts'

/** Options of `startAuthorizationServer()`. */
export interface AuthorizationServerOptions {
  /** Seconds until an access token expires. Default 3600. */
  readonly accessTokenSeconds?: number
  /** Does each refresh return a new refresh token and end the old one? Default true. */
  readonly rotates?: boolean
  /** Members of the client that replace the defaults, such as `redirect_uris` or `token_endpoint_auth_method`. */
  readonly client?: Partial<ClientMetadata>
  /** Members of the provider's configuration that replace the defaults. */
  readonly configuration?: Configuration
}

/** One request to the token endpoint. */
interface TokenRequest {
  /** `authorization_code`, `refresh_token` or `client_credentials`. */
  readonly grant: string
  /** How the client authenticated: `basic` in the header, `post` in the form, or `none`. */
  readonly clientAuthentication: 'basic' | 'post' | 'none'
  /** The error of the response, such as `invalid_grant`. Undefined if tokens were issued. */
  readonly error: string | undefined
}

const CLIENT_SECRET = 'client-secret:with+%~and&'

/** An authorization server that is running. Dispose it with `await using`. */
export interface AuthorizationServer extends AsyncDisposable {
  /** Its URL, without a path. */
  readonly issuer: string
  /** The id of the registered client. */
  readonly clientId: string
  /** The secret of the registered client. It contains characters that basic authentication must encode. */
  readonly clientSecret: string
  /** The redirect URI of the registered client. */
  readonly redirectUri: string
  /** The requests to the token endpoint, in order. */
  readonly tokenRequests: readonly TokenRequest[]
  /** How many token requests of a grant there were, failed ones included. */
  countTokenRequests(grant: string): number
  /** A configuration with discovery. The scopes are `openid offline_access mail` unless given. */
  openIdConfig(scopes?: readonly string[]): AuthConfig
  /** A configuration with the endpoints of both flows. The scopes are `openid offline_access mail` unless given. */
  oauth2Config(scopes?: readonly string[]): AuthConfig
  /** A configuration with the client credentials flow only. */
  clientCredentialsConfig(): AuthConfig
  /** Ends a token as its user does. Ending a refresh token ends all tokens of its consent. */
  revoke(token: string): Promise<void>
  /** The status that the server's own API answers to an access token: 200, or 401 if the token is not valid. */
  useToken(accessToken: string): Promise<number>
  /** The `Authorization` header of the registered client. */
  basicHeader(): string
  /** Stops the server. */
  close(): Promise<void>
}

/**
 * Starts an authorization server.
 *
 * @example
 * await using server = await startAuthorizationServer({ accessTokenSeconds: 5 })
 * const callback = await new UserAgent().consent(authUri)
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const client: ClientMetadata = {
    client_id: 'desk app',
    client_secret: CLIENT_SECRET,
    redirect_uris: ['http://127.0.0.1:9999/callback'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
    ...options.client,
  }
  const provider = withoutNotices(() => new Provider(issuer, configurationOf(client, options)))
  const tokenRequests: TokenRequest[] = []
  provider.on('grant.success', (context) => tokenRequests.push(tokenRequestOf(context, undefined)))
  provider.on('grant.error', (context, error) => tokenRequests.push(tokenRequestOf(context, error.error)))
  http.on('request', provider.callback())
  const endpoints = { authorizationUrl: `${issuer}/auth`, tokenUrl: `${issuer}/token` }
  const { client_id: clientId, client_secret: clientSecret = '' } = client
  const redirectUri = client.redirect_uris?.[0] ?? ''
  const oauth2 = { clientId, ...(clientSecret && { clientSecret }), redirectUri }
  const close = (): Promise<void> => closeServer(http)
  return {
    issuer,
    clientId,
    clientSecret,
    redirectUri,
    tokenRequests,
    countTokenRequests: (grant) => tokenRequests.filter((request) => request.grant === grant).length,
    openIdConfig: (scopes = SCOPES) => ({
      authScheme: { type: 'openIdConnect', openIdConnectUrl: `${issuer}/.well-known/openid-configuration`, scopes },
      rawAuthCredential: { authType: 'openIdConnect', oauth2 },
    }),
    oauth2Config: (scopes = SCOPES) => ({
      authScheme: { type: 'oauth2', flows: { authorizationCode: { ...endpoints, scopes: described(scopes) } } },
      rawAuthCredential: { authType: 'oauth2', oauth2 },
    }),
    clientCredentialsConfig: () => ({
      authScheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: endpoints.tokenUrl } } },
      rawAuthCredential: { authType: 'oauth2', oauth2 },
    }),
    revoke: async (token) => {
      const body = new URLSearchParams({ token })
      const headers = { authorization: basicHeader(clientId, clientSecret) }
      const response = await fetch(`${issuer}/token/revocation`, { method: 'POST', headers, body })
      if (!response.ok) throw new Error(`The server did not revoke the token: status ${response.status}.`)
    },
    useToken: async (accessToken) =>
      (await fetch(`${issuer}/me`, { headers: { authorization: `Bearer ${accessToken}` } })).status,
    basicHeader: () => basicHeader(clientId, clientSecret),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const SCOPES = ['openid', 'offline_access', 'mail']

function configurationOf(client: ClientMetadata, options: AuthorizationServerOptions): Configuration {
  const accessTokenSeconds = options.accessTokenSeconds ?? 3600
  return {
    clients: [client],
    scopes: SCOPES,
    features: {
      devInteractions: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async () => true },
      clientCredentials: { enabled: true },
    },
    rotateRefreshToken: options.rotates ?? true,
    issueRefreshToken: async () => true,
    pkce: { required: () => true },
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
      IdToken: 600,
    },
    cookies: { keys: ['a key of the tests'] },
    renderError: (context, { error, error_description: text }) => {
      context.body = `${error}: ${text}`
    },
    findAccount: async (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    ...options.configuration,
  }
}

/** The provider prints advice for production when it is created. */
function withoutNotices<T>(create: () => T): T {
  const { info, warn } = console
  Object.assign(console, { info: () => {}, warn: () => {} })
  try {
    return create()
  } finally {
    Object.assign(console, { info, warn })
  }
}

function tokenRequestOf({ oidc, req }: KoaContextWithOIDC, error: string | undefined): TokenRequest {
  const inHeader = req.headers.authorization?.startsWith('Basic ') === true
  const clientAuthentication = inHeader ? 'basic' : oidc.body?.client_secret === undefined ? 'none' : 'post'
  return { grant: String(oidc.body?.grant_type ?? 'unknown'), clientAuthentication, error }
}

function described(scopes: readonly string[]): Record<string, string> {
  return Object.fromEntries(scopes.map((scope) => [scope, `The scope ${scope}`]))
}

function basicHeader(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString('base64')}`
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

async function closeServer(http: Server): Promise<void> {
  if (!http.listening) return
  const closed = new Promise<void>((resolve) => http.close(() => resolve()))
  http.closeAllConnections()
  await closed
}
