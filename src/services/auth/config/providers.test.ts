import { describe, expect, test } from 'vitest'
import { systemPorts } from '../../../core/base/ports.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { createAuthorizationRequest, exchangeCode, refreshTokens, type TokenHttp } from '../tokens/oauth-tokens.ts'
import { type CheckedAuthConfig, checkAuthConfig } from './check-auth-config.ts'

const CLIENT = {
  authType: 'oauth2',
  oauth2: { clientId: 'desk app', clientSecret: 'a secret', redirectUri: 'https://desk.example/callback' },
}
const of = (provider: string, config: AuthConfig = {}): CheckedAuthConfig =>
  checkAuthConfig({ provider, scopes: ['one', 'two'], rawAuthCredential: CLIENT, ...config }, 'Tool "mail"')

/** No test sends a request: the fetch function records it. */
function recorder(): { http: TokenHttp; requests: { url: string; headers: Headers; form: URLSearchParams }[] } {
  const requests: { url: string; headers: Headers; form: URLSearchParams }[] = []
  const send: typeof fetch = async (url, init) => {
    requests.push({
      url: String(url),
      headers: new Headers(init?.headers),
      form: new URLSearchParams(String(init?.body)),
    })
    return Response.json({ access_token: 'a' })
  }
  return { http: { ports: systemPorts, fetch: send }, requests }
}

async function authorizationUrl(config: CheckedAuthConfig, redirectUri?: string): Promise<URL> {
  return new URL((await createAuthorizationRequest(recorder().http, config, redirectUri)).authUri)
}

describe('the authorization URL of', () => {
  test.each<[string, string, Record<string, string>]>([
    [
      'google',
      'https://accounts.google.com/o/oauth2/v2/auth',
      { access_type: 'offline', prompt: 'consent', scope: 'one two' },
    ],
    ['github', 'https://github.com/login/oauth/authorize', { scope: 'one two' }],
    ['microsoft', 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize', { scope: 'one two' }],
    ['slack', 'https://slack.com/oauth/v2/authorize', { scope: 'one,two' }],
    [
      'atlassian',
      'https://auth.atlassian.com/authorize',
      { audience: 'api.atlassian.com', prompt: 'consent', scope: 'one two' },
    ],
    ['salesforce', 'https://login.salesforce.com/services/oauth2/authorize', { scope: 'one two' }],
  ])('%s has its endpoint, PKCE, state and parameters', async (provider, endpoint, parameters) => {
    const url = await authorizationUrl(of(provider))
    expect(url.origin + url.pathname).toBe(endpoint)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'desk app',
      response_type: 'code',
      redirect_uri: 'https://desk.example/callback',
      state: expect.stringMatching(/^[\w-]{40,}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      ...parameters,
    })
  })

  test('each consent has its own state and challenge', async () => {
    const [first, second] = [await authorizationUrl(of('github')), await authorizationUrl(of('github'))]
    for (const name of ['state', 'code_challenge'])
      expect(first.searchParams.get(name)).not.toBe(second.searchParams.get(name))
  })

  test('an explicit scheme replaces the endpoints, keeps their query and gets the parameters of the provider', async () => {
    const flow = {
      authorizationUrl: 'https://id.example/auth?tenant=7&state=old',
      tokenUrl: 'https://id.example/token',
    }
    const authScheme = { type: 'oauth2', flows: { authorizationCode: flow } } as const
    const url = await authorizationUrl(of('google', { authScheme }), 'https://other.example/callback')
    expect(url.origin).toBe('https://id.example')
    expect(url.searchParams.get('tenant')).toBe('7')
    expect(url.searchParams.getAll('state')).not.toContain('old')
    expect(url.searchParams.get('access_type')).toBe('offline')
    expect(url.searchParams.get('redirect_uri')).toBe('https://other.example/callback')
  })
})

test('a token request to GitHub asks for JSON and has the client in the form', async () => {
  const { http, requests } = recorder()
  await exchangeCode(http, of('github'), { code: 'c', codeVerifier: 'v' })
  const [request] = requests
  expect(request?.url).toBe('https://github.com/login/oauth/access_token')
  expect(request?.headers.get('accept')).toBe('application/json')
  expect(request?.headers.get('authorization')).toBe(null)
  expect(Object.fromEntries(request?.form ?? [])).toEqual({
    grant_type: 'authorization_code',
    code: 'c',
    code_verifier: 'v',
    redirect_uri: 'https://desk.example/callback',
    client_id: 'desk app',
    client_secret: 'a secret',
  })
})

test('a token request to Slack has the client in a form-encoded basic header', async () => {
  const { http, requests } = recorder()
  await exchangeCode(http, of('slack'), { code: 'c' })
  expect(requests[0]?.headers.get('authorization')).toBe(`Basic ${btoa('desk+app:a+secret')}`)
  expect(requests[0]?.form.has('client_secret')).toBe(false)
})

test('refreshTokens() uses refreshUrl, and keeps what the server does not return', async () => {
  const { http, requests } = recorder()
  const flow = {
    authorizationUrl: 'https://id.example/auth',
    tokenUrl: 'https://id.example/token',
    refreshUrl: 'https://id.example/refresh',
  }
  const config = of('github', { authScheme: { type: 'oauth2', flows: { authorizationCode: flow } } })
  const old = { accessToken: 'old', refreshToken: 'r', idToken: 'i', scopes: ['s'], expiresAt: 1 }
  expect(await refreshTokens(http, config, old)).toEqual({
    accessToken: 'a',
    refreshToken: 'r',
    idToken: 'i',
    scopes: ['s'],
  })
  expect(requests.map(({ url }) => url)).toEqual(['https://id.example/refresh'])
})

describe('discovery accepts', () => {
  test.each<[string, string, string, string]>([
    [
      'the URL of the document',
      'https://id.example/realm/.well-known/openid-configuration',
      'https://id.example/realm',
      'https://id.example/realm/.well-known/openid-configuration',
    ],
    [
      'the URL of the issuer',
      'https://id.example/realm',
      'https://id.example/realm',
      'https://id.example/realm/.well-known/openid-configuration',
    ],
    [
      'an issuer with a slash',
      'https://id.example/.well-known/openid-configuration',
      'https://id.example/',
      'https://id.example/.well-known/openid-configuration',
    ],
    [
      'a document of RFC 8414',
      'https://id.example/.well-known/oauth-authorization-server/realm',
      'https://id.example/realm',
      'https://id.example/.well-known/oauth-authorization-server/realm',
    ],
  ])('%s', async (_, openIdConnectUrl, issuer, document) => {
    const urls: string[] = []
    const send: typeof fetch = async (url) => {
      urls.push(String(url))
      return Response.json({
        issuer,
        token_endpoint: 'https://id.example/t',
        authorization_endpoint: 'https://id.example/a',
      })
    }
    const config = checkAuthConfig(
      {
        authScheme: { type: 'openIdConnect', openIdConnectUrl, scopes: ['openid', 'offline_access'] },
        rawAuthCredential: { authType: 'openIdConnect', oauth2: { clientId: 'desk' } },
      },
      'Tool "mail"',
    )
    const { authUri } = await createAuthorizationRequest({ ports: systemPorts, fetch: send }, config, undefined)
    expect(urls).toEqual([document])
    expect(new URL(authUri).searchParams.get('prompt'), 'needed for a refresh token').toBe('consent')
  })
})
