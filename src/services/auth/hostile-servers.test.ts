import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemPorts } from '../../core/base/ports.ts'
import type { AuthConfig } from '../../core/content/auth.ts'
import { type CheckedAuthConfig, checkAuthConfig } from './config/check-auth-config.ts'
import {
  createAuthorizationRequest,
  exchangeCode,
  refreshTokens,
  requestClientToken,
  type TokenHttp,
} from './tokens/oauth-tokens.ts'

const http: TokenHttp = { ports: systemPorts }
const TOKENS = { accessToken: 'canary-access', refreshToken: 'canary-refresh' }
const CLIENT = { clientId: 'desk', clientSecret: 'canary-client-secret' }

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Server {
  readonly origin: string
  /** The paths of the requests, in order. */
  readonly paths: string[]
}

/** Starts a server that ends with the test. */
async function serve(handle: Handler): Promise<Server> {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    request.resume().on('end', () => handle(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

const json =
  (status: number, body: unknown): Handler =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Sends as fast as the client reads, until the client closes the connection. */
const sendForever: Handler = (_, response) => {
  const chunk = 'canary'.repeat(10_000)
  const send = (): void => {
    while (!response.destroyed && response.write(chunk));
  }
  response.writeHead(200, { 'content-type': 'application/json' }).on('drain', send)
  send()
}

const checked = (config: AuthConfig): CheckedAuthConfig => checkAuthConfig(config, 'Tool "mail"')
const codeConfig = (origin: string, provider?: string): CheckedAuthConfig =>
  checked({
    ...(provider !== undefined && { provider }),
    authScheme: {
      type: 'oauth2',
      flows: { authorizationCode: { authorizationUrl: `${origin}/authorize`, tokenUrl: `${origin}/token` } },
    },
    rawAuthCredential: { authType: 'oauth2', oauth2: CLIENT },
  })
const discoveryConfig = (openIdConnectUrl: string): CheckedAuthConfig =>
  checked({
    authScheme: { type: 'openIdConnect', openIdConnectUrl, scopes: ['openid'] },
    rawAuthCredential: { authType: 'openIdConnect', oauth2: CLIENT },
  })

/** The error of a refresh. It must contain no secret, in no member and no cause. */
async function failureOf(work: Promise<unknown>): Promise<Error & { isFinal: boolean }> {
  const error = await work.then(
    () => expect.fail('it did not fail'),
    (thrown: Error & { isFinal: boolean }) => thrown,
  )
  expect(error.name).toBe('AuthError')
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary')
  return error
}

describe('refreshTokens() throws an AuthError that keeps the tokens for a token endpoint that', () => {
  const CASES: [string, Handler, string][] = [
    ['answers 401 without a reason', (_, response) => void response.writeHead(401).end(), '(status 401)'],
    ['answers 429', json(429, { error: 'slow_down' }), '"slow_down" (status 429). Try again later.'],
    ['answers 500', (_, response) => void response.writeHead(500).end('canary'), '(status 500). Try again later.'],
    [
      'answers with an unknown error',
      json(400, { error: 'canary', error_description: 'canary' }),
      'refused the request (status 400)',
    ],
    [
      'answers HTML with status 200',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>canary'),
      'did not respond with a JSON object',
    ],
    [
      'answers HTML that claims to be JSON',
      (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('<p>canary'),
      'did not respond with a JSON object',
    ],
    ['answers a list', json(200, ['canary']), 'did not respond with a JSON object'],
    ['answers null', json(200, null), 'did not respond with a JSON object'],
    [
      'answers without an access token',
      json(200, { token_type: 'bearer', refresh_token: 'canary' }),
      'returned an invalid token response (OAUTH_INVALID_RESPONSE)',
    ],
    [
      'answers with a token type that is not supported',
      json(200, { access_token: 'canary', token_type: 'mac' }),
      'returned an invalid token response',
    ],
    [
      'answers with a DPoP token',
      json(200, { access_token: 'canary', token_type: 'DPoP' }),
      'returned an invalid token response',
    ],
    [
      'answers with a line break in the token',
      json(200, { access_token: 'canary\r\nx: y', token_type: 'bearer' }),
      'returned a token with invalid characters',
    ],
    ['answers with 10 MB', json(200, { access_token: 'canary'.repeat(1_700_000) }), 'sent more than 1048576 bytes'],
    ['never stops sending', sendForever, 'sent more than 1048576 bytes'],
    ['breaks the connection', (request) => void request.socket.destroy(), 'could not be reached'],
    [
      'breaks the connection in the response',
      (_, response) => void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
      'broke',
    ],
  ]
  test.each(CASES)('%s', async (_, handle, message) => {
    const { origin, paths } = await serve(handle)
    const error = await failureOf(refreshTokens(http, codeConfig(origin), TOKENS))
    expect(error.message).toContain(message)
    expect(error.isFinal).toBe(false)
    expect(paths, 'one request, without a retry').toEqual(['/token'])
  })
})

test.each([301, 302, 307, 308])('a token endpoint that answers %i gets nothing at its target', async (status) => {
  const target = await serve(json(200, { access_token: 'stolen', token_type: 'bearer' }))
  const { origin } = await serve(
    (_, response) => void response.writeHead(status, { location: `${target.origin}/steal` }).end(),
  )
  const error = await failureOf(refreshTokens(http, codeConfig(origin), TOKENS))
  expect(error.message).toContain('redirects token requests, which is refused')
  expect(target.paths).toEqual([])
})

test('a fetch function that follows redirects is refused', async () => {
  const target = await serve(json(200, { access_token: 'stolen', token_type: 'bearer' }))
  const { origin } = await serve((_, response) => void response.writeHead(302, { location: `${target.origin}/` }).end())
  const following: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'follow' })
  const error = await failureOf(refreshTokens({ ...http, fetch: following }, codeConfig(origin), TOKENS))
  expect(error.message).toContain('redirects token requests')
})

test.each<[string, Handler]>([
  ['never answers', () => {}],
  [
    'never ends its answer',
    (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
  ],
])('a token endpoint that %s is given up after 10 seconds', async (_, handle) => {
  let fire: (() => void) | undefined
  const timers: number[] = []
  const setTimer = (callback: () => void, ms: number): (() => void) => {
    timers.push(ms)
    fire = callback
    return () => {}
  }
  const { origin } = await serve((request, response) => {
    handle(request, response)
    setTimeout(() => fire?.(), 20) // the request is under way
  })
  const work = refreshTokens({ ports: { ...systemPorts, setTimer } }, codeConfig(origin), TOKENS)
  expect((await failureOf(work)).message).toContain('did not respond within 10000 ms')
  expect(timers).toEqual([10_000])
})

describe('a discovery document is refused if', () => {
  const CASES: [string, (origin: string) => unknown, string][] = [
    [
      'it names another issuer',
      () => ({ issuer: 'https://other.example', token_endpoint: 'https://other.example/t' }),
      'names another issuer',
    ],
    ['it names no issuer', (origin) => ({ token_endpoint: `${origin}/token` }), 'names another issuer'],
    ['it has no token endpoint', (origin) => ({ issuer: origin }), 'has no token_endpoint'],
    [
      'its token endpoint is http',
      (origin) => ({ issuer: origin, token_endpoint: 'http://other.example/t' }),
      'The token_endpoint in the discovery document',
    ],
    [
      'its authorization endpoint is a script',
      (origin) => ({ issuer: origin, token_endpoint: `${origin}/t`, authorization_endpoint: 'javascript:alert(1)' }),
      'The authorization_endpoint in the discovery document',
    ],
  ]
  test.each(CASES)('%s', async (_, metadata, message) => {
    const server = await serve((_, response) => json(200, metadata(server.origin))(_, response))
    const config = discoveryConfig(`${server.origin}/.well-known/openid-configuration`)
    const error = await failureOf(createAuthorizationRequest(http, config, undefined))
    expect(error.message).toContain(message)
  })

  test('it is https and names an endpoint of this machine', async () => {
    const metadata = { issuer: 'https://id.example', token_endpoint: 'http://127.0.0.1:1/token' }
    const send: typeof fetch = async () => Response.json(metadata)
    const error = await failureOf(requestClientToken({ ...http, fetch: send }, discoveryConfig('https://id.example')))
    expect(error.message).toContain('The token_endpoint in the discovery document')
  })
})

test('exchangeCode() refuses an id token of another issuer', async () => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exchange = async (iss: (origin: string) => string): Promise<unknown> => {
    const server = await serve((request, response) => {
      const metadata = { issuer: server.origin, token_endpoint: `${server.origin}/token` }
      const seconds = Math.floor(Date.now() / 1000)
      const claims = { iss: iss(server.origin), aud: CLIENT.clientId, sub: 'ada', iat: seconds, exp: seconds + 60 }
      const id_token = `${encode({ alg: 'RS256' })}.${encode(claims)}.${encode({})}`
      json(200, request.method === 'GET' ? metadata : { access_token: 'a', id_token })(request, response)
    })
    return exchangeCode(http, discoveryConfig(server.origin), { code: 'c' })
  }
  const error = await failureOf(exchange(() => 'https://attacker.example'))
  expect(error.message).toContain('returned an invalid token response (OAUTH_JWT_CLAIM_COMPARISON_FAILED)')
  expect(await exchange((origin) => origin), 'the honest server').toHaveProperty('idToken')
})

test('discovery is cached for an hour, and not after a failure', async () => {
  let now = 0
  let status = 503
  const server = await serve((request, response) => {
    const metadata = {
      issuer: server.origin,
      token_endpoint: `${server.origin}/t`,
      authorization_endpoint: `${server.origin}/a`,
    }
    json(status, metadata)(request, response)
  })
  const ports = { ...systemPorts, now: () => now }
  const ask = (): Promise<unknown> => createAuthorizationRequest({ ports }, discoveryConfig(server.origin), undefined)
  await failureOf(ask())
  status = 200
  await Promise.all([ask(), ask(), ask()])
  now = 3_599_999
  await ask()
  expect(server.paths).toHaveLength(2)
  now = 3_600_000
  await ask()
  expect(server.paths).toHaveLength(3)
})

describe('exchangeCode() understands', () => {
  const answers = (body: unknown, status = 200) => serve(json(status, body))
  const exchange = async (body: unknown, provider?: string) =>
    exchangeCode(http, codeConfig((await answers(body)).origin, provider), { code: 'c' })

  test('a token of GitHub, with comma-separated scopes', async () => {
    const body = { access_token: 'gho_1', scope: 'repo,gist', token_type: 'bearer' }
    expect(await exchange(body, 'github')).toEqual({ accessToken: 'gho_1', scopes: ['repo', 'gist'] })
  })

  test('an error of GitHub with status 200', async () => {
    const { message, isFinal } = await failureOf(exchange({ error: 'bad_verification_code' }, 'github'))
    expect(message).toContain('"bad_verification_code" (status 200). A new consent is needed.')
    expect(isFinal).toBe(true)
  })

  test('a bot token of Slack', async () => {
    const body = { ok: true, access_token: 'xoxb-1', token_type: 'bot', scope: 'chat:write,users:read' }
    expect(await exchange(body, 'slack')).toEqual({ accessToken: 'xoxb-1', scopes: ['chat:write', 'users:read'] })
  })

  test.each([[undefined], ['Bearer'], ['BEARER'], [null], ['']])('token_type %j', async (token_type) => {
    expect(await exchange({ access_token: 'a', token_type, refresh_token: null, scope: '' })).toEqual({
      accessToken: 'a',
    })
  })

  test.each<[unknown, number]>([
    [60, 60],
    ['60', 60],
    [0, 0],
    [1e300, 315_360_000],
  ])('expires_in %j', async (expires_in, life) => {
    const { origin } = await answers({ access_token: 'a', token_type: 'bearer', expires_in })
    const ports = { ...systemPorts, now: () => 1_000_900 }
    expect((await exchangeCode({ ports }, codeConfig(origin), { code: 'c' })).expiresAt).toBe(1000 + life)
  })
})
