import { createHmac } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startAuthorizationServer } from '../../../services/auth/authorization-server.test-kit.ts'
import { createServer } from '../create-server.ts'
import { helloAgent } from '../edge.test-kit.ts'
import { oidc } from './oidc.ts'
import type { Principal } from './principal.ts'

const AUDIENCE = 'agents'
const bearer = (token: string): Request =>
  new Request('http://localhost/', { headers: { authorization: `Bearer ${token}` } })
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
const other = await generateKeyPair('RS256')
let issuer = ''
beforeAll(async () => {
  const key = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const http = createHttpServer((request, response) => {
    const isMetadata = request.url === '/.well-known/openid-configuration'
    response.end(JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : { keys: [key] }))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return () => http.close()
})

const now = (): number => Math.floor(Date.now() / 1000)
const claims = (): Record<string, unknown> => ({ iss: issuer, aud: AUDIENCE, sub: 'ada', iat: now(), exp: now() + 60 })
const sign = (changed: object = {}, { kid = 'k1', key = privateKey } = {}): Promise<string> =>
  new SignJWT({ ...claims(), ...changed }).setProtectedHeader({ alg: 'RS256', kid }).sign(key)
const check = async (token: string, options = {}): Promise<Principal | undefined> =>
  oidc({ issuer, audience: AUDIENCE, ...options })(bearer(token))

test('accepts a token of the provider, with the claims of the options', async () => {
  expect(await check(await sign())).toEqual({ userId: 'ada', mayActAsAnyUser: false })
  const options = { userClaim: 'email', mayActAsAnyUser: (one: Record<string, unknown>) => one.role === 'operator' }
  const token = await sign({ email: 'ada@example.com', role: 'operator', aud: ['other', AUDIENCE] })
  expect(await check(token, options)).toEqual({ userId: 'ada@example.com', mayActAsAnyUser: true })
})

test('refuses forged, foreign and expired tokens', async () => {
  const payload = base64(claims())
  const [, , signature] = (await sign()).split('.')
  const hmacHead = `${base64({ alg: 'HS256', kid: 'k1' })}.${payload}`
  const hmac = createHmac('sha256', await exportSPKI(publicKey))
    .update(hmacHead)
    .digest('base64url')
  const forged = {
    'no algorithm': `${base64({ alg: 'none' })}.${payload}.`,
    'no algorithm, with a signature': `${base64({ alg: 'none', kid: 'k1' })}.${payload}.${signature}`,
    'HMAC with the public key': `${hmacHead}.${hmac}`,
    'other claims': `${base64({ alg: 'RS256', kid: 'k1' })}.${base64({ ...claims(), sub: 'eve' })}.${signature}`,
    'another key': await sign({}, { key: other.privateKey }),
    'unknown key id': await sign({}, { kid: 'k2', key: other.privateKey }),
    'another audience': await sign({ aud: 'shop' }),
    'no audience': await sign({ aud: undefined }),
    'another issuer': await sign({ iss: 'https://login.evil.test' }),
    expired: await sign({ exp: now() - 60 }),
    'without an end': await sign({ exp: undefined }),
    'not valid yet': await sign({ nbf: now() + 600 }),
    'no user': await sign({ sub: undefined }),
    'a user that is no text': await sign({ sub: ['ada'] }),
    'an empty user': await sign({ sub: '' }),
    'not a token': 'abc',
    'own key in the header': await new SignJWT(claims())
      .setProtectedHeader({ alg: 'RS256', jwk: await exportJWK(other.publicKey), kid: 'k3' })
      .sign(other.privateKey),
  }
  for (const [what, token] of Object.entries(forged)) expect(await check(token), what).toBeUndefined()
  expect(await oidc({ issuer, audience: AUDIENCE })(new Request('http://localhost/'))).toBeUndefined()
})

test('a provider that is down is an error, not a refusal; it is asked again after 5 seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  let isDown = true
  let asked = 0
  const flaky = ((url: string, init?: RequestInit) => {
    asked++
    return isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init)
  }) as typeof fetch
  const logged: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void logged.push(message) }
  const server = createServer({
    apps: { hello: helloAgent() },
    authenticate: oidc({ issuer, audience: AUDIENCE, fetch: flaky }),
    logger,
  })
  const token = await sign()
  const send = (): Promise<Response> =>
    server.fetch(new Request('http://localhost/list-apps', { headers: { authorization: `Bearer ${token}` } }))
  const refused = await send()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await refused.json()).toMatchObject({ errorCode: 'UNAVAILABLE', error: expect.stringContaining('identity') })
  expect(logged[0]).toContain('fetch failed')
  isDown = false
  vi.advanceTimersByTime(3_000)
  const early = await Promise.all([send(), send(), send()])
  expect(early.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(Array(3).fill([503, '2']))
  expect(asked).toBe(1)
  vi.advanceTimersByTime(2_000)
  expect((await send()).status).toBe(200)
})

test.each([
  ['other metadata', { issuer: 'https://evil.test', jwks_uri: 'https://evil.test/keys' }, {}],
  ['keys without https', { jwks_uri: 'http://keys.example.com' }, {}],
  ['metadata that is a list', [], {}],
  ['no list of keys', {}, { keys: 'none' }],
  ['keys with status 500', {}, 500],
  ['keys that are too many', {}, { keys: [], filler: 'x'.repeat(1_000_001) }],
])('a provider with %s is an error, not a refusal, and is not asked by each request', async (_, metadata, keys) => {
  let asked = 0
  const liar = (async (url: string) => {
    asked++
    if (!url.endsWith('/keys'))
      return Response.json(Array.isArray(metadata) ? metadata : { issuer, jwks_uri: `${issuer}/keys`, ...metadata })
    return typeof keys === 'number' ? new Response('no', { status: keys }) : Response.json(keys)
  }) as typeof fetch
  const authenticate = oidc({ issuer, audience: AUDIENCE, fetch: liar })
  const token = await sign()
  await expect(authenticate(bearer(token))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  const before = asked
  await expect(authenticate(bearer(token))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(asked).toBe(before)
})

test('a forged token does not make the provider count as unavailable', async () => {
  const authenticate = oidc({ issuer, audience: AUDIENCE })
  const unknown = await sign({}, { kid: 'k9', key: other.privateKey })
  for (const token of ['abc', unknown, `${base64({ alg: 'ES256', kid: 'k1' })}.${base64(claims())}.AAAA`])
    expect(await authenticate(bearer(token))).toBeUndefined()
  expect(await authenticate(bearer(await sign()))).toMatchObject({ userId: 'ada' })
})

test('refuses a provider without https, unless it is on this machine', () => {
  for (const address of ['http://login.example.com', 'http://127.0.0.1.evil.test', 'login.example.com', 'file:///keys'])
    expect(() => oidc({ issuer: address, audience: AUDIENCE }), address).toThrow('must be an https address')
  expect(() => oidc({ issuer: 'https://login.example.com', audience: '' })).toThrow('audience is missing')
})

test('accepts an access token that a real provider has issued', async () => {
  await using provider = await startAuthorizationServer({
    configuration: {
      features: {
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => 'https://agents.example.com',
          getResourceServerInfo: () => ({ scope: 'mail', audience: AUDIENCE, accessTokenFormat: 'jwt' }),
        },
      },
    },
  })
  const response = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: { authorization: provider.basicHeader(), 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  const options = { issuer: provider.issuer, userClaim: 'client_id' }
  expect(await check(token, options)).toEqual({ userId: provider.clientId, mayActAsAnyUser: false })
  expect(await check(token, { ...options, audience: 'shop' })).toBeUndefined()
})
