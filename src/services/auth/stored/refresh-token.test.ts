import { expect, test } from 'vitest'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { createTestServices, SharedStore, signIn, type TestServices } from '../auth-services.test-kit.ts'
import { startAuthorizationServer } from '../authorization-server.test-kit.ts'
import { type CredentialOutcome, resolveCredential } from '../resolve-credential.ts'

const scope = { appName: 'shop', userId: 'ada' }
const LOCK = { ...scope, key: 'refresh:mail' }

const accessTokenOf = (outcome: CredentialOutcome | undefined): string | undefined =>
  outcome?.status === 'ready' ? outcome.credential.oauth2?.accessToken : undefined

const lockUntil = (expiresAt: unknown): AuthCredential => ({
  authType: 'refreshLock',
  custom: { holder: 'another process', expiresAt },
})

/** Timers that fire at once, and move the clock by their time. */
function createFastServices(credentialService?: SharedStore): TestServices {
  let shift = 0
  const services = createTestServices({
    ...(credentialService && { credentialService }),
    ports: {
      now: () => Date.now() + shift,
      setTimer: (callback, ms) => {
        // The timeout of a request must not fire before its answer.
        const timer = setTimeout(
          () => {
            shift += ms
            callback()
          },
          ms > 1000 ? ms : 0,
        )
        return () => clearTimeout(timer)
      },
    },
  })
  return {
    ...services,
    advance: (seconds) => {
      shift += seconds * 1000
    },
  }
}

test('50 parallel calls with an expired token cause one refresh, and the token family stays alive', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.openIdConfig(), 'mail')
  services.advance(4000)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => resolveCredential(services, 'mail', config)))
  expect(new Set(outcomes.map(accessTokenOf)).size).toBe(1)
  expect(await server.useToken(accessTokenOf(outcomes[0]) ?? '')).toBe(200)
  expect(server.countTokenRequests('refresh_token')).toBe(1)
  services.advance(4000)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
  expect(server.countTokenRequests('refresh_token')).toBe(2)
  expect(services.reports).toEqual([])
  expect(await services.load('refresh:mail')).toBeUndefined()
})

test('5 stores over the same rows with 10 calls each cause one refresh, and the token family stays alive', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.openIdConfig(), 'mail')
  services.advance(4000)
  const processes = Array.from({ length: 5 }, () => services.inOtherProcess())
  const calls = Array.from({ length: 50 }, (_, n) => resolveCredential(processes[n % 5] ?? services, 'mail', config))
  const outcomes = await Promise.all(calls)
  expect(new Set(outcomes.map(accessTokenOf)).size).toBe(1)
  expect(await server.useToken(accessTokenOf(outcomes[0]) ?? '')).toBe(200)
  expect(server.countTokenRequests('refresh_token')).toBe(1)
  services.advance(4000)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
})

test('a call with a valid token does not wait for the process that refreshes it', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices({
    ports: {
      setTimer: () => {
        throw new Error('No timer was expected.')
      },
    },
  })
  const config = await signIn(
    createTestServices({ credentialService: services.credentialService }),
    server.oauth2Config(),
    'mail',
  )
  const before = await services.load('mail')
  services.advance(3400)
  await services.credentialService.save({ ...LOCK, credential: lockUntil(services.ports.now() + 30_000) })
  const outcome = await resolveCredential(services, 'mail', config)
  expect(accessTokenOf(outcome)).toBe(before?.credential.oauth2?.accessToken)
  expect(server.countTokenRequests('refresh_token')).toBe(0)
  expect(services.reports).toEqual([])
})

test('a call with an expired token waits for the process that refreshes it, and uses its token', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  await services.credentialService.save({ ...LOCK, credential: lockUntil(services.ports.now() + 30_000) })
  const waiting = resolveCredential(services, 'mail', config)
  const expiresAt = services.ports.now() / 1000 + 3600
  const credential = { authType: 'oauth2', oauth2: { accessToken: 'of the other process', expiresAt } }
  await services.credentialService.save({ ...scope, key: 'mail', credential })
  expect(accessTokenOf(await waiting)).toBe('of the other process')
  expect(server.countTokenRequests('refresh_token')).toBe(0)
})

test.each<readonly [string, unknown]>([
  ['has expired', 1],
  ['has no valid expiry', 'tomorrow'],
  ['never expires, after 30 seconds', 8e15],
])('the lock of a dead process is taken over if it %s', async (_name, expiresAt) => {
  await using server = await startAuthorizationServer()
  const services = createFastServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  await services.credentialService.save({ ...LOCK, credential: lockUntil(expiresAt) })
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
  expect(server.countTokenRequests('refresh_token')).toBe(1)
  expect(await services.load('refresh:mail')).toBeUndefined()
})

test('the lock of a dead process is taken over while the call waits', async () => {
  await using server = await startAuthorizationServer()
  const services = createFastServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  await services.credentialService.save({ ...LOCK, credential: lockUntil(services.ports.now() + 20_000) })
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
  expect(server.countTokenRequests('refresh_token')).toBe(1)
})

test('a call fails if other processes hold the lock one after the other for a minute', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createFastServices(store)
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  store.before = (operation, key) => {
    if (operation !== 'load' || key !== LOCK.key) return
    void services.credentialService.save({ ...LOCK, credential: lockUntil(services.ports.now() + 30_000) })
  }
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('held the refresh lock of "mail"'),
  })
})

test('a refused refresh does not delete the token that another process has stored meanwhile', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  await server.revoke((await services.load('mail'))?.credential.oauth2?.refreshToken ?? '')
  const expiresAt = services.ports.now() / 1000 + 3600
  const credential = { authType: 'oauth2', oauth2: { accessToken: 'of a new consent', expiresAt } }
  const fetchDuringConsent: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    await services.credentialService.save({ ...scope, key: 'mail', credential })
    return response
  }
  const outcome = await resolveCredential(services, 'mail', config, { fetch: fetchDuringConsent })
  expect(accessTokenOf(outcome)).toBe('of a new consent')
  expect(server.tokenRequests.at(-1)).toMatchObject({ grant: 'refresh_token', error: 'invalid_grant' })
})

test('a refreshed token does not replace the token that another process has stored meanwhile', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  const fetchDuringLogout: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    await services.credentialService.delete({ ...scope, key: 'mail' })
    return response
  }
  const outcome = await resolveCredential(services, 'mail', config, { fetch: fetchDuringLogout })
  expect(outcome).toEqual({ status: 'needs-auth' })
  expect(await services.load('mail')).toBeUndefined()
})

test('a store that fails once does not lose the refreshed token', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createTestServices({ credentialService: store })
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  let failures = 0
  store.before = (operation, key) => {
    if (operation === 'save' && key === 'mail' && failures++ === 0) throw new Error('The disk is busy.')
  }
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
  services.advance(4000)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
  expect(failures).toBe(3)
})

test('after a crash between the answer of the server and the save, the old token is tried once, then consent is needed', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createTestServices({ credentialService: store })
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  store.before = (operation, key) => {
    if (operation === 'save' && key === 'mail') throw new Error('kill -9')
  }
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'failed' })
  store.before = () => {}
  for (let call = 0; call < 3; call++) {
    expect(await resolveCredential(services, 'mail', config)).toEqual({ status: 'needs-auth' })
  }
  expect(server.tokenRequests.filter(({ grant }) => grant === 'refresh_token').map(({ error }) => error)).toEqual([
    undefined,
    'invalid_grant',
  ])
})

test('20 parallel calls whose shared refresh fails are reported once', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  await server.close()
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => resolveCredential(services, 'mail', config)))
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['failed']))
  expect(services.reports).toEqual([expect.stringContaining('could not be reached')])
})

test('a lock that cannot be released is reported, and expires', async () => {
  await using server = await startAuthorizationServer()
  const store = new SharedStore(createTestServices().credentialService)
  const services = createFastServices(store)
  const config = await signIn(services, server.oauth2Config(), 'mail')
  services.advance(4000)
  store.before = (operation) => {
    if (operation === 'delete') throw new Error('The disk is full.')
  }
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
  expect(services.reports).toEqual([expect.stringContaining('refresh lock "refresh:mail" was not released')])
  services.advance(4000)
  expect(await resolveCredential(services, 'mail', config)).toMatchObject({ status: 'ready' })
})

test('the keys of two users and two apps are refreshed on their own', async () => {
  await using server = await startAuthorizationServer()
  const services = createTestServices()
  const others = [{ userId: 'bob' }, { appName: 'desk' }].map((owner) => ({ ...services, ...owner }))
  const config = await signIn(services, server.oauth2Config(), 'mail')
  for (const other of others) await signIn(other, server.oauth2Config(), 'mail')
  services.advance(4000)
  const outcomes = await Promise.all([services, ...others].map((one) => resolveCredential(one, 'mail', config)))
  expect(new Set(outcomes.map(accessTokenOf)).size).toBe(3)
  expect(server.countTokenRequests('refresh_token')).toBe(3)
})
