import { expect, test } from 'vitest'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { createTestServices, SharedStore } from '../auth-services.test-kit.ts'
import { startAuthorizationServer } from '../authorization-server.test-kit.ts'
import { checkAuthConfig } from '../config/check-auth-config.ts'
import { CONSENT_MS, openConsent } from './open-consent.ts'

const check = (config: AuthConfig) => checkAuthConfig(config, 'the test')

test('openConsent() returns the authorization URL and state, and stores the rest', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = check(server.openIdConfig(['openid', 'mail']))
  const shown = await openConsent(services, { id: 'r1', key: 'mail', config })
  const { authUri = '', state } = shown.exchangedAuthCredential?.oauth2 ?? {}
  const { redirectUri, clientId } = server
  expect(shown).toEqual({
    authScheme: config.authScheme,
    credentialKey: 'mail',
    rawAuthCredential: { authType: 'openIdConnect', oauth2: { clientId, redirectUri } },
    exchangedAuthCredential: { authType: 'openIdConnect', oauth2: { authUri, state, redirectUri } },
  })
  const url = new URL(authUri)
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    state,
    redirect_uri: redirectUri,
    code_challenge_method: 'S256',
  })
  const stored = (await services.load('consent:r1'))?.credential
  expect(stored).toMatchObject({ authType: 'consent', custom: { state, redirectUri, key: 'mail', config } })
  const { createdAt, expiresAt, codeVerifier } = stored?.custom ?? {}
  expect(Number(expiresAt) - Number(createdAt)).toBe(CONSENT_MS)
  expect(JSON.stringify(shown)).not.toContain(codeVerifier)
  expect(JSON.stringify(shown)).not.toContain(server.clientSecret)
})

test('openConsent() shows provider and scopes, and takes the redirect URI that it is given', async () => {
  const services = createTestServices()
  const config = check({
    provider: 'github',
    scopes: ['repo'],
    rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'desk', clientSecret: 'canary' } },
  })
  const redirectUri = 'https://app.example/callback'
  const shown = await openConsent(services, { id: 'r1', key: 'hub', config, redirectUri })
  expect(shown).toMatchObject({
    provider: 'github',
    scopes: ['repo'],
    credentialKey: 'hub',
    exchangedAuthCredential: { oauth2: { redirectUri } },
  })
  expect(new URL(shown.exchangedAuthCredential?.oauth2?.authUri ?? '').searchParams.get('redirect_uri')).toBe(
    redirectUri,
  )
})

test('openConsent() shows no secret of a configuration: neither tokens nor codes nor queries of endpoints', async () => {
  const tokenUrl = 'https://id.example/token'
  const config = check({
    authScheme: {
      type: 'oauth2',
      flows: {
        authorizationCode: { authorizationUrl: 'https://id.example/auth', tokenUrl, scopes: { mail: 'Mail' } },
        clientCredentials: { tokenUrl },
      },
    },
    rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'desk' } },
  })
  const { authorizationCode } = config.authScheme.type === 'oauth2' ? config.authScheme.flows : {}
  // Members that only a caller without types can set.
  const loaded = {
    ...config,
    canary: 'canary-1',
    authScheme: {
      type: 'oauth2',
      canary: 'canary-2',
      flows: {
        authorizationCode: {
          ...authorizationCode,
          tokenUrl: `${tokenUrl}?key=canary-3`,
          refreshUrl: 'https://canary-4@id.example/refresh#canary-5',
          clientSecret: 'canary-6',
        },
      },
    },
    rawAuthCredential: {
      authType: 'oauth2',
      apiKey: 'canary-7',
      http: { scheme: 'basic', credentials: { password: 'canary-8' } },
      serviceAccount: { clientEmail: 'a@b.example', privateKey: 'canary-9' },
      custom: { secret: 'canary-10' },
      oauth2: {
        clientId: 'desk',
        clientSecret: 'canary-11',
        authCode: 'canary-12',
        codeVerifier: `canary-21${'x'.repeat(43)}`,
        accessToken: 'canary-13',
        refreshToken: 'canary-14',
        idToken: 'canary-15',
        state: 'canary-16',
        authUri: 'canary-17',
        authResponseUri: 'canary-18',
      },
    },
    exchangedAuthCredential: { authType: 'oauth2', oauth2: { accessToken: 'canary-19', refreshToken: 'canary-20' } },
  } as unknown as typeof config
  const shown = await openConsent(createTestServices(), { id: 'r1', key: 'mail', config: loaded })
  expect(JSON.stringify(shown)).not.toContain('canary')
  expect(shown.authScheme).toMatchObject({
    type: 'oauth2',
    flows: { authorizationCode: { tokenUrl, refreshUrl: 'https://id.example/refresh' } },
  })
})

test('openConsent() refuses a scheme without a user', async () => {
  await using server = await startAuthorizationServer()
  const config = check(server.clientCredentialsConfig())
  const opened = openConsent(createTestServices(), { id: 'r1', key: 'mail', config })
  await expect(opened).rejects.toMatchObject({ name: 'AuthError', message: expect.stringContaining('type oauth2') })
})

test('openConsent() throws AuthError if discovery fails, and STORAGE without a secret if the store fails', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  store.before = () => {
    throw new Error('canary row')
  }
  const services = createTestServices({ credentialService: store })
  const consent = { id: 'r1', key: 'mail', config: check(server.openIdConfig()) }
  const thrown: unknown = await openConsent(services, consent).catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: 'STORAGE' })
  expect((thrown as Error).cause).toBeUndefined()
  expect(String(thrown)).not.toContain('canary')
  await using other = await startAuthorizationServer()
  await other.close()
  const lost = { ...consent, config: check(other.openIdConfig()) }
  await expect(openConsent(services, lost)).rejects.toMatchObject({ name: 'AuthError' })
})

test('openConsent() deletes consents that no answer has completed for a day, and no other row', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = check(server.oauth2Config())
  const open = (id: string, who = services) => openConsent(who, { id, key: 'mail', config })
  await open('lost')
  await open('of eve', { ...services, userId: 'eve' })
  const credential = { authType: 'apiKey', apiKey: 'a key' } as const
  await services.credentialService.save({ appName: 'shop', userId: 'ada', key: 'crm', credential })
  services.advance(23 * 3600)
  await open('today')
  expect(await services.load('consent:lost')).toBeDefined()
  services.advance(2 * 3600)
  await open('now')
  const keysOf = (userId: string) => services.credentialService.list?.({ appName: 'shop', userId })
  expect(await keysOf('ada')).toEqual(['consent:now', 'consent:today', 'crm'])
  expect(await keysOf('eve')).toEqual(['consent:of eve'])
})

test('openConsent() works with a store that cannot list its keys, and reports one that fails', async () => {
  await using server = await startAuthorizationServer()
  const config = check(server.oauth2Config())
  const services = createTestServices()
  const list = async () => {
    throw new Error('the disk is full')
  }
  const failing = Object.assign(new SharedStore(services.credentialService), { list })
  for (const credentialService of [new SharedStore(services.credentialService), failing])
    await openConsent({ ...services, credentialService }, { id: 'r1', key: 'mail', config })
  expect(await services.load('consent:r1')).toBeDefined()
  expect(services.reports).toEqual([expect.stringContaining('Consents that were never completed were not deleted.')])
})
