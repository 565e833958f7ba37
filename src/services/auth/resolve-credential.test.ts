import { expect, test } from 'vitest'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import { InMemoryCredentialService } from '../credential/in-memory.ts'
import { createTestServices, SharedStore, signIn, type TestServices } from './auth-services.test-kit.ts'
import { startAuthorizationServer } from './authorization-server.test-kit.ts'
import { checkAuthConfig } from './config/check-auth-config.ts'
import { resolveCredential } from './resolve-credential.ts'

const check = (config: AuthConfig) => checkAuthConfig(config, 'the test')

const header = { type: 'apiKey', in: 'header', name: 'x-key' } as const
const oauth2 = check({
  authScheme: {
    type: 'oauth2',
    flows: { authorizationCode: { authorizationUrl: 'https://id.example/auth', tokenUrl: 'https://id.example/token' } },
  },
  rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'desk', redirectUri: 'https://app.example/' } },
})

const noFetch: typeof fetch = () => {
  throw new Error('No request was expected.')
}

const save = (services: TestServices, credential: AuthCredential, key = 'mail'): Promise<number> =>
  services.credentialService.save({ appName: 'shop', userId: 'ada', key, credential })

const tokenOf = async (services: TestServices): Promise<AuthCredential['oauth2']> =>
  (await services.load('mail'))?.credential.oauth2

test.each<AuthCredential>([
  { authType: 'apiKey', apiKey: 'k3y' },
  { authType: 'http', http: { scheme: 'bearer', credentials: { token: 't0ken' } } },
])('resolveCredential() returns a raw $authType credential without a look at the store', async (rawAuthCredential) => {
  const store = new SharedStore(createTestServices().credentialService)
  store.before = () => {
    throw new Error('No store was expected.')
  }
  const services = createTestServices({ credentialService: store, fetch: noFetch })
  const authScheme = rawAuthCredential.authType === 'apiKey' ? header : ({ type: 'http', scheme: 'bearer' } as const)
  const outcome = await resolveCredential(services, 'mail', check({ authScheme, rawAuthCredential }))
  expect(outcome).toEqual({ status: 'ready', credential: rawAuthCredential })
})

test('resolveCredential() says how to save a missing API key', async () => {
  const services = createTestServices({ fetch: noFetch })
  const outcome = await resolveCredential(services, 'mail', check({ authScheme: header, credentialKey: 'mail' }))
  expect(outcome).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('credentialService.save() under the key "mail"'),
  })
  expect(services.reports).toHaveLength(1)
})

test.each<AuthCredential>([
  { authType: 'apiKey', apiKey: 'k3y' },
  { authType: 'http', http: { scheme: 'basic', credentials: { username: 'ada', password: '' } } },
])('resolveCredential() uses a stored $authType credential', async (credential) => {
  const services = createTestServices({ fetch: noFetch })
  await save(services, credential)
  const authScheme = credential.authType === 'apiKey' ? header : ({ type: 'http', scheme: 'basic' } as const)
  expect(await resolveCredential(services, 'mail', check({ authScheme, credentialKey: 'mail' }))).toEqual({
    status: 'ready',
    credential,
  })
})

test('resolveCredential() needs consent if nothing is stored, for oauth2 and openIdConnect', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  for (const config of [server.oauth2Config(), server.openIdConfig()]) {
    expect(await resolveCredential(services, 'mail', check(config))).toEqual({ status: 'needs-auth' })
  }
  expect(services.reports).toEqual([])
})

test('resolveCredential() uses a stored token, and refreshes it when it is within the refresh buffer', async () => {
  await using server = await startAuthorizationServer({ accessTokenSeconds: 3600 })
  const services = createTestServices()
  const config = await signIn(services, server.openIdConfig(), 'mail')
  const first = (await tokenOf(services))?.accessToken
  services.advance(3200)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({
    status: 'ready',
    credential: { authType: 'openIdConnect', oauth2: { accessToken: first } },
  })
  expect(server.countTokenRequests('refresh_token')).toBe(0)
  services.advance(200)
  const outcome = await resolveCredential(services, 'mail', config)
  const second = await tokenOf(services)
  expect(second?.accessToken).not.toBe(first)
  expect(outcome).toMatchObject({ status: 'ready', credential: { oauth2: { accessToken: second?.accessToken } } })
  expect(await server.useToken(second?.accessToken ?? '')).toBe(200)
  expect(server.countTokenRequests('refresh_token')).toBe(1)
})

test('resolveCredential() takes the refresh buffer of its options', async () => {
  await using server = await startAuthorizationServer({ accessTokenSeconds: 3600 })
  const services = createTestServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  await resolveCredential(services, 'mail', config, { refreshBuffer: 3500 })
  expect(server.countTokenRequests('refresh_token')).toBe(0)
  services.advance(110)
  await resolveCredential(services, 'mail', config, { refreshBuffer: 3500 })
  expect(server.countTokenRequests('refresh_token')).toBe(1)
  const wrong = await resolveCredential(services, 'mail', config, { refreshBuffer: Number.NaN })
  expect(wrong).toMatchObject({ status: 'failed', reason: expect.stringContaining('refreshBuffer must be a number') })
})

test('resolveCredential() refreshes a token that lives shorter than the buffer at half its life', async () => {
  await using server = await startAuthorizationServer({ accessTokenSeconds: 60 })
  const services = createTestServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(20)
  await resolveCredential(services, 'mail', config)
  expect(server.countTokenRequests('refresh_token')).toBe(0)
  services.advance(15)
  await resolveCredential(services, 'mail', config)
  expect(server.countTokenRequests('refresh_token')).toBe(1)
  await resolveCredential(services, 'mail', config)
  expect(server.countTokenRequests('refresh_token')).toBe(1)
})

test('resolveCredential() keeps a valid token if the server is down, and fails after it has expired', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  const before = await services.load('mail')
  await server.close()
  services.advance(3400)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({
    status: 'ready',
    credential: { oauth2: { accessToken: before?.credential.oauth2?.accessToken } },
  })
  expect(services.reports).toEqual([expect.stringContaining('is used until it expires')])
  services.advance(300)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'failed' })
  expect(services.reports).toHaveLength(2)
  expect(await services.load('mail')).toEqual(before)
  expect(await services.load('refresh:mail')).toBeUndefined()
})

test('resolveCredential() deletes a revoked token and needs consent', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.openIdConfig(), 'mail')
  await server.revoke((await tokenOf(services))?.refreshToken ?? '')
  services.advance(4000)
  expect(await resolveCredential(services, 'mail', config)).toEqual({ status: 'needs-auth' })
  expect(await services.load('mail')).toBeUndefined()
  expect(services.reports).toEqual([expect.stringContaining('was deleted')])
  expect(await resolveCredential(services, 'mail', config)).toEqual({ status: 'needs-auth' })
  expect(server.countTokenRequests('refresh_token')).toBe(1)
})

test('resolveCredential() sends a refused refresh token once while the access token is valid', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.openIdConfig(), 'mail')
  const { accessToken, refreshToken = '' } = (await tokenOf(services)) ?? {}
  await server.revoke(refreshToken)
  services.advance(3400)
  for (let call = 0; call < 3; call++) {
    const outcome = await resolveCredential(services, 'mail', config)
    expect(outcome).toMatchObject({ status: 'ready', credential: { oauth2: { accessToken } } })
  }
  expect(server.countTokenRequests('refresh_token')).toBe(1)
  services.advance(300)
  expect(await resolveCredential(services, 'mail', config)).toEqual({ status: 'needs-auth' })
  expect(server.countTokenRequests('refresh_token')).toBe(1)
})

test('resolveCredential() deletes an expired token without a refresh token and needs consent', async () => {
  const services = createTestServices({ fetch: noFetch })
  const now = Date.now() / 1000
  await save(services, { authType: 'oauth2', oauth2: { accessToken: 't0ken', expiresAt: now + 100 } })
  expect(await resolveCredential(services, 'mail', oauth2)).toMatchObject({ status: 'ready' })
  services.advance(101)
  expect(await resolveCredential(services, 'mail', oauth2)).toEqual({ status: 'needs-auth' })
  expect(await services.load('mail')).toBeUndefined()
})

test('resolveCredential() never refreshes a token that has no expiry', async () => {
  const services = createTestServices({ fetch: noFetch })
  const credential = { authType: 'oauth2', oauth2: { accessToken: 't0ken', refreshToken: 'r3fresh' } }
  await save(services, credential)
  services.advance(1e9)
  expect(await resolveCredential(services, 'mail', oauth2)).toEqual({ status: 'ready', credential })
})

test('resolveCredential() requests client credentials once and uses them until they expire', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = check(server.clientCredentialsConfig())
  const calls = Array.from({ length: 20 }, () => resolveCredential(services, 'mail', config))
  const outcomes = await Promise.all(calls)
  expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
  expect(outcomes[0]).toMatchObject({ status: 'ready', credential: { oauth2: { accessToken: expect.any(String) } } })
  await resolveCredential(services, 'mail', config)
  expect(server.countTokenRequests('client_credentials')).toBe(1)
  services.advance(3400)
  await resolveCredential(services, 'mail', config)
  expect(server.countTokenRequests('client_credentials')).toBe(2)
  await server.close()
  services.advance(3400)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
  services.advance(300)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'failed' })
})

test('resolveCredential() fails if the server refuses the client', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const { authScheme, rawAuthCredential } = server.clientCredentialsConfig()
  const wrong = { ...rawAuthCredential?.oauth2, clientSecret: 'wrong-s3cret' }
  const config = check({ ...(authScheme && { authScheme }), rawAuthCredential: { authType: 'oauth2', oauth2: wrong } })
  const outcome = await resolveCredential(services, 'mail', config)
  expect(outcome).toMatchObject({ status: 'failed' })
  expect(JSON.stringify([outcome, services.reports])).not.toContain('wrong-s3cret')
  expect(services.reports).toHaveLength(1)
})

test.each<readonly [string, unknown]>([
  ['null', null],
  ['a text', 'a token'],
  ['a list', []],
  ['another type', { authType: 'apiKey', apiKey: 'k3y' }],
  ['an open consent', { authType: 'consent', oauth2: { accessToken: 't' } }],
  ['no tokens', { authType: 'oauth2' }],
  ['a list of tokens', { authType: 'oauth2', oauth2: ['t'] }],
  ['an empty access token', { authType: 'oauth2', oauth2: { accessToken: '' } }],
  ['an access token that is an object', { authType: 'oauth2', oauth2: { accessToken: { a: 1 } } }],
  ['a refresh token that is a number', { authType: 'oauth2', oauth2: { accessToken: 't', refreshToken: 5 } }],
  ['an expiry that is a text', { authType: 'oauth2', oauth2: { accessToken: 't', expiresAt: '9999999999' } }],
  ['a negative expiry', { authType: 'oauth2', oauth2: { accessToken: 't', expiresAt: -1 } }],
])('resolveCredential() ignores and reports a stored row that is %s', async (_name, row) => {
  const store = new InMemoryCredentialService()
  // A store that does not check its rows.
  store.load = async () => ({ credential: row as AuthCredential, generation: 1 })
  const services = createTestServices({ credentialService: store, fetch: noFetch })
  expect(await resolveCredential(services, 'mail', oauth2)).toEqual({ status: 'needs-auth' })
  expect(services.reports).toEqual([expect.stringContaining('"mail" is ignored')])
})

test.each<readonly [string, unknown]>([
  ['a text', 'row'],
  ['a row without a generation', { credential: { authType: 'oauth2', oauth2: { accessToken: 'canary' } } }],
])('resolveCredential() fails if the store returns %s', async (_name, row) => {
  const store = new InMemoryCredentialService()
  store.load = async () => row as never
  const services = createTestServices({ credentialService: store, fetch: noFetch })
  const outcome = await resolveCredential(services, 'mail', oauth2)
  expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('without a generation') })
  expect(JSON.stringify([outcome, services.reports])).not.toContain('canary')
})

test('resolveCredential() replaces an invalid row by a requested token', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  await save(services, { authType: 'apiKey', apiKey: 'k3y' })
  const outcome = await resolveCredential(services, 'mail', check(server.clientCredentialsConfig()))
  expect(outcome).toMatchObject({ status: 'ready' })
  expect(await tokenOf(services)).toMatchObject({ accessToken: expect.any(String) })
})

test('resolveCredential() refreshes a token whose issue time lies after its expiry', async () => {
  const services = createTestServices({ fetch: noFetch })
  const expiresAt = Date.now() / 1000 - 10
  await save(services, {
    authType: 'oauth2',
    oauth2: { accessToken: 't0ken', expiresAt },
    custom: { issuedAt: expiresAt + 1e6 },
  })
  expect(await resolveCredential(services, 'mail', oauth2)).toEqual({ status: 'needs-auth' })
})

test.each(['consent:r1', 'refresh:mail'])('resolveCredential() refuses the reserved key %s', async (key) => {
  const services = createTestServices({ fetch: noFetch })
  await save(services, { authType: 'oauth2', oauth2: { accessToken: 't0ken' } }, key)
  const outcome = await resolveCredential(services, key, oauth2)
  expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('reserved prefix') })
})

test.each(['load', 'save', 'delete'] as const)(
  'resolveCredential() fails without a secret if the store cannot %s',
  async (operation) => {
    const store = new SharedStore(createTestServices().credentialService)
    const services = createTestServices({ credentialService: store, fetch: noFetch })
    await save(services, { authType: 'oauth2', oauth2: { accessToken: 'canary-t0ken', expiresAt: 1 } })
    store.before = (called) => {
      if (called === operation) throw new Error('row (canary-t0ken) is locked')
    }
    const code = { clientId: 'desk', redirectUri: 'https://app.example/', authCode: 'canary-code' }
    const config = check({ ...oauth2, rawAuthCredential: { authType: 'oauth2', oauth2: code } })
    const outcome = await resolveCredential(services, 'mail', config)
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining(`could not ${operation}`),
    })
    expect(services.reports).toHaveLength(1)
    expect(JSON.stringify([outcome, services.reports])).not.toContain('canary')
  },
)

test('resolveCredential() resolves if the report callback throws', async () => {
  const services = createTestServices({ fetch: noFetch })
  const report = (): void => {
    throw new Error('The log is full.')
  }
  await save(services, { authType: 'apiKey', apiKey: 'k3y' })
  expect(await resolveCredential({ ...services, report }, 'mail', oauth2)).toEqual({ status: 'needs-auth' })
})
