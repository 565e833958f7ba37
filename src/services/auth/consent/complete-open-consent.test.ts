import { expect, test } from 'vitest'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { createTestServices, SharedStore, type TestServices } from '../auth-services.test-kit.ts'
import type { AuthServices } from '../auth-services.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../authorization-server.test-kit.ts'
import { checkAuthConfig } from '../config/check-auth-config.ts'
import { resolveCredential } from '../resolve-credential.ts'
import { UserAgent } from '../user-agent.test-kit.ts'
import { completeOpenConsent } from './complete-open-consent.ts'
import { type ConsentOutcome, forgetConsent } from './consent-record.ts'
import { openConsent } from './open-consent.ts'
import { type ConsentAnswer, readConsentAnswer } from './read-consent-answer.ts'

const id = 'request-1'
const scope = { appName: 'shop', userId: 'ada' }
const STORED: ConsentOutcome = { status: 'stored', key: 'mail' }

/** Opens a consent and lets the user agree. */
async function consented(services: AuthServices, authConfig: AuthConfig): Promise<ConsentAnswer> {
  const config = checkAuthConfig(authConfig, 'the test')
  const shown = await openConsent(services, { id, key: 'mail', config })
  return await agree(shown)
}

async function agree(shown: AuthConfig): Promise<ConsentAnswer> {
  const authResponseUri = await new UserAgent().consent(shown.exchangedAuthCredential?.oauth2?.authUri ?? '')
  return readConsentAnswer({ authResponseUri }) as ConsentAnswer
}

function complete(
  services: AuthServices,
  answer: ConsentAnswer,
  allowedRedirectUris: readonly string[] = [],
): Promise<ConsentOutcome> {
  return completeOpenConsent(services, { id, answer, allowedRedirectUris })
}

const countExchanges = (server: AuthorizationServer): number => server.countTokenRequests('authorization_code')

test.each(['openIdConfig', 'oauth2Config'] as const)(
  'completeOpenConsent() stores the tokens of a full code flow with %s',
  async (kind) => {
    await using server = await startAuthorizationServer()
    const services = createTestServices()
    const answer = await consented(services, server[kind]())
    expect(await complete(services, answer)).toEqual(STORED)
    const config = checkAuthConfig(server[kind](), 'the test')
    const outcome = await resolveCredential(services, 'mail', config)
    if (outcome.status !== 'ready') throw new Error(outcome.status)
    expect(await server.useToken(outcome.credential.oauth2?.accessToken ?? '')).toBe(200)
    expect(services.reports).toEqual([])
  },
)

test('completeOpenConsent() returns the same outcome for the same answer, without a second exchange', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  const other = services.inOtherProcess()
  const outcomes = await Promise.all([services, other, services, other].map((one) => complete(one, answer)))
  expect(outcomes).toEqual([STORED, STORED, STORED, STORED])
  services.advance(3600)
  expect(await complete(services, answer)).toEqual(STORED)
  expect(countExchanges(server)).toBe(1)
})

test('completeOpenConsent() refuses another answer to a used consent', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  await complete(services, answer)
  await expect(complete(services, { ...answer, code: 'another' })).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
  await expect(complete(services, { ...answer, state: 'wrong' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(countExchanges(server)).toBe(1)
})

test('completeOpenConsent() exchanges one of two different answers that come at the same time', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.oauth2Config())
  const answers = [answer, { ...answer, code: 'another' }]
  const settled = await Promise.allSettled(answers.map((one) => complete(services, one)))
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
  expect(refused).toEqual(['ALREADY_ANSWERED'])
  expect(countExchanges(server)).toBe(1)
})

test('completeOpenConsent() refuses a wrong or missing state, and the consent stays open', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  for (const state of [undefined, '', 'wrong', `${answer.state}x`, answer.state?.slice(0, -1)]) {
    const refused = complete(services, { ...answer, state })
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringContaining('state') })
  }
  expect(countExchanges(server)).toBe(0)
  expect(await complete(services, answer)).toEqual(STORED)
})

test('completeOpenConsent() refuses an answer without code and error', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  await expect(complete(services, { ...answer, code: undefined })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(await complete(services, answer)).toEqual(STORED)
})

test('completeOpenConsent() refuses a consent that is unknown or belongs to another user or app', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  const other = { id: 'request-2', answer, allowedRedirectUris: [] }
  await expect(completeOpenConsent(services, other)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(complete({ ...services, userId: 'bob' }, answer)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(complete({ ...services, appName: 'desk' }, answer)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(countExchanges(server)).toBe(0)
})

test('completeOpenConsent() refuses an answer after 10 minutes', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  services.advance(601)
  await expect(complete(services, answer)).rejects.toMatchObject({ code: 'EXPIRED' })
  expect(countExchanges(server)).toBe(0)
})

test('completeOpenConsent() refuses a redirect URI that is neither requested nor allowed', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  for (const redirectUri of ['https://evil.example/', `${server.redirectUri}/`, server.redirectUri.toUpperCase()]) {
    const refused = complete(services, { ...answer, redirectUri }, ['https://evil.example/callback'])
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('allowedRedirectUris'),
    })
  }
  expect(await complete(services, { ...answer, redirectUri: server.redirectUri })).toEqual(STORED)
})

test('completeOpenConsent() accepts an allowed redirect URI that the client has put into the URL', async () => {
  const own = 'http://127.0.0.1:4200/dev-ui'
  const requested = 'http://127.0.0.1:9999/callback'
  await using server = await startAuthorizationServer({ client: { redirect_uris: [requested, own] } })
  const services = createTestServices()
  const config = checkAuthConfig(server.openIdConfig(), 'the test')
  const shown = await openConsent(services, { id, key: 'mail', config })
  const url = new URL(shown.exchangedAuthCredential?.oauth2?.authUri ?? '')
  url.searchParams.set('redirect_uri', own)
  const authResponseUri = await new UserAgent().consent(url.href)
  const reply = { ...shown, exchangedAuthCredential: { oauth2: { authResponseUri, redirectUri: own } } }
  const answer = readConsentAnswer(reply) as ConsentAnswer
  await expect(complete(services, answer)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(await complete(services, answer, [own])).toEqual(STORED)
})

test('completeOpenConsent() uses no endpoint, client or key of an answer', async () => {
  await using server = await startAuthorizationServer()
  const sent: string[] = []
  const recordingFetch: typeof fetch = (input, init) => {
    sent.push(new URL(input instanceof Request ? input.url : input).origin)
    return fetch(input, init)
  }
  const services = createTestServices({ fetch: recordingFetch })
  const config = checkAuthConfig(server.oauth2Config(), 'the test')
  const shown = await openConsent(services, { id, key: 'mail', config })
  const authResponseUri = await new UserAgent().consent(shown.exchangedAuthCredential?.oauth2?.authUri ?? '')
  const evil = 'http://127.0.0.2:9/token'
  const answer = readConsentAnswer({
    authScheme: { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: evil, tokenUrl: evil } } },
    credentialKey: 'admin',
    rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'evil' } },
    exchangedAuthCredential: { authType: 'oauth2', oauth2: { authResponseUri, accessToken: 'evil', tokenUri: evil } },
  })
  expect(await complete(services, answer as ConsentAnswer)).toEqual(STORED)
  expect(new Set(sent)).toEqual(new Set([server.issuer]))
  expect(await services.load('admin')).toBeUndefined()
})

test('completeOpenConsent() fails if the user declines, and exchanges nothing', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = checkAuthConfig(server.openIdConfig(), 'the test')
  const shown = await openConsent(services, { id, key: 'mail', config })
  const authResponseUri = await new UserAgent().decline(shown.exchangedAuthCredential?.oauth2?.authUri ?? '')
  const answer = readConsentAnswer({ authResponseUri }) as ConsentAnswer
  const outcome = await complete(services, answer)
  expect(outcome).toEqual({
    status: 'failed',
    reason: 'The authorization server returned the error access_denied instead of a code.',
  })
  expect(await complete(services, answer)).toEqual(outcome)
  expect(server.tokenRequests).toEqual([])
})

test.each(['a b', '<script>', 'x'.repeat(61), 'line\nbreak'])(
  'completeOpenConsent() does not repeat the error %j of a callback',
  async (error) => {
    await using server = await startAuthorizationServer()
    const services = createTestServices()
    const answer = await consented(services, server.oauth2Config())
    const outcome = await complete(services, { ...answer, code: undefined, error })
    expect(outcome).toEqual({
      status: 'failed',
      reason: 'The authorization server returned an error instead of a code.',
    })
  },
)

test('completeOpenConsent() fails with a wrong issuer and with a wrong code, and the same answer fails again', async () => {
  await using server = await startAuthorizationServer()
  for (const change of [{ iss: 'https://evil.example' }, { code: 'wrong-c0de' }]) {
    const services = createTestServices()
    const answer = { ...(await consented(services, server.openIdConfig())), ...change }
    const outcome = await complete(services, answer)
    expect(outcome).toMatchObject({ status: 'failed' })
    expect(await complete(services, answer)).toEqual(outcome)
    expect(JSON.stringify([outcome, services.reports])).not.toContain(answer.code)
    expect(services.reports).toHaveLength(1)
    expect(await services.load('mail')).toBeUndefined()
  }
  expect(countExchanges(server)).toBe(1)
})

test('completeOpenConsent() fails after a crash between use and outcome, without a second exchange', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createTestServices({ credentialService: store })
  const answer = await consented(services, server.openIdConfig())
  crashOnSave(store, 2)
  await complete(services, answer)
  store.before = () => {}
  services.advance(31)
  expect(await complete(services, answer)).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('Ask the user again'),
  })
  expect(countExchanges(server)).toBe(1)
})

test('completeOpenConsent() reports and fails if the tokens cannot be stored', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createTestServices({ credentialService: store })
  const answer = await consented(services, server.openIdConfig())
  store.before = (operation, key) => {
    if (operation === 'save' && key === 'mail') throw new Error('canary-t0ken')
  }
  const outcome = await complete(services, answer)
  expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('could not save "mail"') })
  expect(await complete(services, answer)).toEqual(outcome)
  expect(services.reports).toHaveLength(1)
  expect(JSON.stringify([outcome, services.reports])).not.toContain('canary')
})

test('completeOpenConsent() throws STORAGE without a secret if the store fails before the consent is used', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createTestServices({ credentialService: store })
  const answer = await consented(services, server.openIdConfig())
  for (const failing of ['load', 'save']) {
    store.before = (operation) => {
      if (operation === failing) throw new Error('canary')
    }
    const thrown: unknown = await complete(services, answer).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: 'STORAGE' })
    expect((thrown as Error).cause).toBeUndefined()
    expect(String(thrown)).not.toContain('canary')
  }
  store.before = () => {}
  expect(await complete(services, answer)).toEqual(STORED)
})

test('completeOpenConsent() does not find a consent whose row has a wrong shape', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  const row = (await services.load(`consent:${id}`))?.credential
  const evil = { authScheme: { type: 'openIdConnect', openIdConnectUrl: 'http://evil.example/' } }
  const changes = [
    { state: 5 },
    { codeVerifier: '' },
    { key: undefined },
    { expiresAt: '9' },
    { type: 'done' },
    { config: evil },
    { config: null },
    { redirectUri: {} },
  ]
  for (const change of changes) {
    await saveConsentRow(services, { authType: 'consent', custom: { ...row?.custom, ...change } })
    await expect(complete(services, answer)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  }
  await saveConsentRow(services, { authType: 'oauth2', custom: { ...row?.custom } })
  await expect(complete(services, answer)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(services.reports).toHaveLength(changes.length + 1)
  expect(countExchanges(server)).toBe(0)
})

test('a used consent keeps neither the verifier nor the client secret', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const answer = await consented(services, server.openIdConfig())
  const open = JSON.stringify(await services.load(`consent:${id}`))
  expect(open).toContain(server.clientSecret)
  await complete(services, answer)
  const used = JSON.stringify(await services.load(`consent:${id}`))
  expect(used).not.toContain(server.clientSecret)
  expect(used).not.toContain('codeVerifier')
  expect(used).not.toContain(answer.code)
})

test('forgetConsent() deletes a consent, and reports a store that fails', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createTestServices({ credentialService: store })
  const answer = await consented(services, server.openIdConfig())
  store.before = () => {
    throw new Error('The disk is full.')
  }
  await forgetConsent(services, id)
  expect(services.reports).toEqual([expect.stringContaining('"request-1" was not deleted')])
  store.before = () => {}
  await forgetConsent(services, id)
  await forgetConsent(services, id)
  await expect(complete(services, answer)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

/** Lets the n-th and all later saves fail. */
function crashOnSave(store: SharedStore, n: number): void {
  let saves = 0
  store.before = (operation) => {
    if (operation === 'save' && ++saves >= n) throw new Error('kill -9')
  }
}

function saveConsentRow(services: TestServices, credential: { authType: string; custom: object }): Promise<number> {
  return services.credentialService.save({
    ...scope,
    key: `consent:${id}`,
    credential: { authType: credential.authType, custom: { ...credential.custom } },
  })
}
