import { createHash, generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import type { AuthConfig, AuthCredential } from '../../../core/content/auth.ts'
import { createTestServices } from '../auth-services.test-kit.ts'
import type { Exchanger } from '../auth-services.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../authorization-server.test-kit.ts'
import { type CheckedAuthConfig, checkAuthConfig } from '../config/check-auth-config.ts'
import { hideCredentials } from '../config/hide-credentials.ts'
import { resolveCredential } from '../resolve-credential.ts'
import { UserAgent } from '../user-agent.test-kit.ts'

const vault = checkAuthConfig(
  {
    authScheme: { type: 'custom', name: 'vault' },
    rawAuthCredential: { authType: 'apiKey', apiKey: 'canary-raw' },
  },
  'the test',
)

test('resolveCredential() calls the exchanger of a custom scheme and stores its credential until it expires', async () => {
  const stored: (AuthCredential | undefined)[] = []
  const exchange: Exchanger = async (options) => {
    stored.push(options.stored)
    expect(options).toMatchObject({ authConfig: vault, userId: 'ada', fetch: expect.any(Function) })
    const expiresAt = services.ports.now() / 1000 + 1000
    return { authType: 'vault', custom: { ticket: `ticket ${stored.length}`, expiresAt } }
  }
  const services = createTestServices({ exchangers: { vault: exchange } })
  const ticket = async (): Promise<unknown> => {
    const outcome = await resolveCredential(services, 'mail', vault)
    return outcome.status === 'ready' ? outcome.credential.custom?.ticket : outcome
  }
  expect(await Promise.all([ticket(), ticket(), ticket()])).toEqual(['ticket 1', 'ticket 1', 'ticket 1'])
  services.advance(600)
  expect(await ticket()).toBe('ticket 1')
  services.advance(200)
  expect(await ticket()).toBe('ticket 2')
  expect(stored.map((one) => one?.custom?.ticket)).toEqual([undefined, 'ticket 1'])
})

test('resolveCredential() says how to register the exchanger of a custom scheme', async () => {
  const services = createTestServices({ exchangers: {} })
  for (const name of ['vault', 'constructor', '__proto__']) {
    const config = checkAuthConfig({ authScheme: { type: 'custom', name } }, 'the test')
    const outcome = await resolveCredential(services, 'mail', config)
    const reason = expect.stringContaining(
      `"${name}" has no exchanger. Register a function under this name in exchangers`,
    )
    expect(outcome).toMatchObject({ status: 'failed', reason })
  }
})

test.each<readonly [string, Exchanger]>([
  ['throws', async () => Promise.reject(new TypeError('canary-raw is wrong'))],
  ['throws no error', async () => Promise.reject('canary-raw')],
  ['returns nothing', async () => undefined as never],
  ['returns an open consent', async () => ({ authType: 'consent' })],
  ['returns a wrong expiry', async () => ({ authType: 'vault', custom: { expiresAt: Number.NaN } })],
])('resolveCredential() fails without a secret if the exchanger %s', async (_name, exchange) => {
  const services = createTestServices({ exchangers: { vault: exchange } })
  const outcome = await resolveCredential(services, 'mail', vault)
  expect(outcome).toMatchObject({ status: 'failed' })
  expect(JSON.stringify([outcome, services.reports])).not.toContain('canary')
  expect(await services.load('mail')).toBeUndefined()
  expect(await services.load('refresh:mail')).toBeUndefined()
})

test('resolveCredential() requests the token of a service account once and uses it until it expires', async () => {
  let requests = 0
  const send: typeof fetch = async () => Response.json({ access_token: `t0ken-${++requests}`, expires_in: 3600 })
  const services = createTestServices({ fetch: send })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const serviceAccount = {
    clientEmail: 'robot@desk.example',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    tokenUri: 'http://127.0.0.1/token',
    scopes: ['mail'],
  }
  const config = checkAuthConfig(
    { authScheme: { type: 'serviceAccount' }, rawAuthCredential: { authType: 'serviceAccount', serviceAccount } },
    'the test',
  )
  const resolve = (): Promise<unknown> => resolveCredential(services, 'mail', config)
  const first = { status: 'ready', credential: { authType: 'oauth2', oauth2: { accessToken: 't0ken-1' } } }
  for (const outcome of await Promise.all([resolve(), resolve(), resolve()])) expect(outcome).toMatchObject(first)
  services.advance(3000)
  expect(await resolve()).toMatchObject(first)
  services.advance(400)
  expect(await resolve()).toMatchObject({ credential: { oauth2: { accessToken: 't0ken-2' } } })
})

test('resolveCredential() asks the user of a public client that has both flows', async () => {
  const tokenUrl = 'https://id.example/token'
  const authorizationCode = { authorizationUrl: 'https://id.example/auth', tokenUrl }
  const config = checkAuthConfig(
    {
      authScheme: { type: 'oauth2', flows: { authorizationCode, clientCredentials: { tokenUrl } } },
      rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'desk' } },
    },
    'the test',
  )
  expect(await resolveCredential(createTestServices(), 'mail', config)).toEqual({ status: 'needs-auth' })
})

test('resolveCredential() exchanges the code of the raw credential once, also in parallel calls and two processes', async () => {
  await using server = await startServerWithoutPkce()
  const services = createTestServices()
  const config = await configWithCode(server)
  const other = services.inOtherProcess()
  const calls = [services, other, services, other].map((one) => resolveCredential(one, 'mail', config))
  for (const outcome of await Promise.all(calls)) {
    expect(outcome).toMatchObject({ status: 'ready', credential: { oauth2: { accessToken: expect.any(String) } } })
  }
  expect(server.countTokenRequests('authorization_code')).toBe(1)
  await services.credentialService.delete({ appName: 'shop', userId: 'ada', key: 'mail' })
  expect(await resolveCredential(services, 'mail', config)).toEqual({ status: 'needs-auth' })
  expect(server.countTokenRequests('authorization_code')).toBe(1)
})

test('resolveCredential() exchanges a code with the redirect URI of its options', async () => {
  await using server = await startServerWithoutPkce()
  const services = createTestServices()
  const config = await configWithCode(server)
  const outcome = await resolveCredential(services, 'mail', config, { redirectUri: 'http://127.0.0.1:9999/other' })
  expect(outcome).toMatchObject({ status: 'failed' })
  expect(server.tokenRequests).toMatchObject([{ grant: 'authorization_code', error: 'invalid_grant' }])
  expect(await resolveCredential(services, 'mail', config)).toEqual({ status: 'needs-auth' })
})

test('the code of a client that used PKCE is exchanged with its verifier, and refused without it', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const codeVerifier = 'a-verifier-of-the-client_0123456789.~ABCDEFGHIJ'
  const config = await configWithCode(server, codeVerifier)
  expect(inspect(hideCredentials(config), { depth: 9 })).not.toContain(codeVerifier)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({
    status: 'ready',
    credential: { oauth2: { accessToken: expect.any(String) } },
  })
  const { rawAuthCredential: raw } = await configWithCode(server, codeVerifier)
  const { codeVerifier: _, ...lost } = raw?.oauth2 ?? {}
  const without: CheckedAuthConfig = { ...config, rawAuthCredential: { authType: 'oauth2', oauth2: lost } }
  expect(await resolveCredential(createTestServices(), 'mail', without)).toMatchObject({ status: 'failed' })
  expect(server.tokenRequests.map(({ error }) => error)).toEqual([undefined, 'invalid_grant'])
})

test('a PKCE verifier that no server accepts is refused, without its value', () => {
  const oauth2 = { clientId: 'desk', authCode: 'c', codeVerifier: 'too short' }
  const flow = { authorizationUrl: 'https://id.example/auth', tokenUrl: 'https://id.example/token' }
  const config: AuthConfig = {
    authScheme: { type: 'oauth2', flows: { authorizationCode: flow } },
    rawAuthCredential: { authType: 'oauth2', oauth2 },
  }
  const problem = expect.stringMatching(/codeVerifier must be 43 to 128 letters(?!.*too short)/s)
  expect(() => checkAuthConfig(config, 'the test')).toThrow(expect.objectContaining({ message: problem }))
})

function startServerWithoutPkce(): Promise<AuthorizationServer> {
  return startAuthorizationServer({ configuration: { pkce: { required: () => false } } })
}

/** A configuration whose raw credential has a fresh code, as ADK clients write it. */
async function configWithCode(server: AuthorizationServer, codeVerifier?: string): Promise<CheckedAuthConfig> {
  const url = new URL(`${server.issuer}/auth`)
  const { clientId, redirectUri } = server
  url.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid offline_access',
    prompt: 'consent',
    ...(codeVerifier !== undefined && {
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
  }).toString()
  const callback = new URL(await new UserAgent().consent(url.href))
  const config: AuthConfig = server.oauth2Config()
  const authCode = callback.searchParams.get('code') ?? ''
  const verifier = codeVerifier === undefined ? {} : { codeVerifier }
  const oauth2 = { ...config.rawAuthCredential?.oauth2, authCode, ...verifier }
  return checkAuthConfig({ ...config, rawAuthCredential: { authType: 'oauth2', oauth2 } }, 'the test')
}
