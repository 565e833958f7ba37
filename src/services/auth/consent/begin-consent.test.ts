import { expect, test } from 'vitest'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { InMemoryCredentialService } from '../../credential/in-memory.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../authorization-server.test-kit.ts'
import { UserAgent } from '../user-agent.test-kit.ts'
import { beginConsent, completeConsent } from './begin-consent.ts'

const scope = { appName: 'shop', userId: 'ada' }

test('beginConsent() and completeConsent() store the tokens of a user without a runner', async () => {
  await using server = await startAuthorizationServer()
  const credentialService = new InMemoryCredentialService()
  const flow = { credentialService, ...scope, authConfig: server.openIdConfig() }
  const { authUri, flowId } = await beginConsent({ ...flow, key: 'mail' })
  const authResponseUri = await new UserAgent().consent(authUri)
  expect(await completeConsent({ ...flow, flowId, authResponseUri })).toEqual({ key: 'mail' })
  const stored = await credentialService.load({ ...scope, key: 'mail' })
  expect(await server.useToken(stored?.credential.oauth2?.accessToken ?? '')).toBe(200)
  expect(await completeConsent({ ...flow, flowId, authResponseUri })).toEqual({ key: 'mail' })
  expect(server.countTokenRequests('authorization_code')).toBe(1)
})

test('beginConsent() takes the redirect URI of its options', async () => {
  const other = 'http://127.0.0.1:9998/other'
  const redirectUris = ['http://127.0.0.1:9999/callback', other]
  await using server = await startAuthorizationServer({ client: { redirect_uris: redirectUris } })
  const flow = { credentialService: new InMemoryCredentialService(), ...scope, authConfig: server.oauth2Config() }
  const { authUri, flowId } = await beginConsent({ ...flow, key: 'mail', redirectUri: other })
  const authResponseUri = await new UserAgent().consent(authUri)
  expect(authResponseUri).toContain(other)
  expect(await completeConsent({ ...flow, flowId, authResponseUri })).toEqual({ key: 'mail' })
})

test('completeConsent() uses the client secret of the configuration that it is given', async () => {
  await using server = await startAuthorizationServer()
  const flow = { credentialService: new InMemoryCredentialService(), ...scope }
  const authConfig = server.openIdConfig()
  const old = { ...authConfig.rawAuthCredential?.oauth2, clientSecret: 'before the rotation' }
  const begun: AuthConfig = { ...authConfig, rawAuthCredential: { authType: 'openIdConnect', oauth2: old } }
  const { authUri, flowId } = await beginConsent({ ...flow, authConfig: begun, key: 'mail' })
  const authResponseUri = await new UserAgent().consent(authUri)
  expect(await completeConsent({ ...flow, authConfig, flowId, authResponseUri })).toEqual({ key: 'mail' })
})

test('completeConsent() refuses a configuration with other endpoints or another client, and the flow stays open', async () => {
  await using server = await startAuthorizationServer()
  await using evil = await startAuthorizationServer()
  const { flow, flowId, authResponseUri } = await begun(server)
  const { rawAuthCredential } = flow.authConfig
  const otherClient = { authType: 'openIdConnect', oauth2: { ...rawAuthCredential?.oauth2, clientId: 'other' } }
  const others = [evil.openIdConfig(), { ...flow.authConfig, rawAuthCredential: otherClient }, server.oauth2Config()]
  for (const authConfig of others) {
    const completed = completeConsent({ ...flow, authConfig, flowId, authResponseUri })
    await expect(completed).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('Pass the same authConfig'),
    })
  }
  expect(evil.tokenRequests).toEqual([])
  expect(await completeConsent({ ...flow, flowId, authResponseUri })).toEqual({ key: 'mail' })
})

test('completeConsent() refuses a wrong state, another user, an unknown flow and a URL that is no callback', async () => {
  await using server = await startAuthorizationServer()
  const { flow, flowId, authResponseUri } = await begun(server)
  const forged = new URL(authResponseUri)
  forged.searchParams.set('state', 'forged')
  const complete = (change: object): Promise<unknown> =>
    completeConsent({ ...flow, flowId, authResponseUri, ...change })
  await expect(complete({ authResponseUri: forged.href })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  await expect(complete({ authResponseUri: server.redirectUri })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  await expect(complete({ userId: 'bob' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(complete({ flowId: 'other' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(server.tokenRequests).toEqual([])
  expect(await complete({})).toEqual({ key: 'mail' })
})

test('completeConsent() refuses a callback after 10 minutes', async () => {
  await using server = await startAuthorizationServer()
  const { flow, flowId, authResponseUri } = await begun(server)
  const ports = { now: () => Date.now() + 601_000 }
  const completed = completeConsent({ ...flow, flowId, authResponseUri, ports })
  await expect(completed).rejects.toMatchObject({ code: 'EXPIRED' })
})

test('completeConsent() throws AuthError if the user declines or the exchange fails', async () => {
  await using server = await startAuthorizationServer()
  const flow = { credentialService: new InMemoryCredentialService(), ...scope, authConfig: server.openIdConfig() }
  const { authUri, flowId } = await beginConsent({ ...flow, key: 'mail' })
  const declined = await new UserAgent().decline(authUri)
  await expect(completeConsent({ ...flow, flowId, authResponseUri: declined })).rejects.toMatchObject({
    name: 'AuthError',
    isFinal: true,
    message: expect.stringContaining('access_denied'),
  })
  const next = await begun(server)
  const wrong = new URL(next.authResponseUri)
  wrong.searchParams.set('code', 'canary-code')
  const completed = completeConsent({ ...next.flow, flowId: next.flowId, authResponseUri: wrong.href })
  const thrown: unknown = await completed.catch((error: unknown) => error)
  expect(thrown).toMatchObject({ name: 'AuthError', isFinal: true })
  expect(`${(thrown as Error).stack} ${String((thrown as Error).cause)}`).not.toContain('canary')
})

test('beginConsent() and completeConsent() name an option that is missing, unknown or wrong', async () => {
  await using server = await startAuthorizationServer()
  const options = {
    credentialService: new InMemoryCredentialService(),
    ...scope,
    authConfig: server.openIdConfig(),
    key: 'mail',
  }
  const begin = (change: object): Promise<unknown> => beginConsent({ ...options, ...change })
  await expect(begin({ userId: undefined })).rejects.toThrow('beginConsent(): userId is missing')
  await expect(begin({ userId: '' })).rejects.toThrow('userId must be a string that is not empty')
  await expect(begin({ credentialService: {} })).rejects.toThrow('credentialService must be an object with "load"')
  await expect(begin({ redirectUrl: 'https://app.example/' })).rejects.toThrow('redirectUri')
  await expect(begin({ key: 'consent:mail' })).rejects.toThrow('reserved prefix')
  await expect(begin({ authConfig: server.clientCredentialsConfig() })).rejects.toThrow('a user cannot consent')
  await expect(begin({ authConfig: { authScheme: { type: 'magic' } } })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
  })
  const { key: _key, ...flow } = options
  const complete = completeConsent({ ...flow, flowId: 'f', authResponseUri: undefined as unknown as string })
  await expect(complete).rejects.toThrow('completeConsent(): authResponseUri is missing')
})

interface Begun {
  readonly flow: {
    credentialService: InMemoryCredentialService
    appName: string
    userId: string
    authConfig: AuthConfig
  }
  readonly flowId: string
  readonly authResponseUri: string
}

async function begun(server: AuthorizationServer): Promise<Begun> {
  const flow = { credentialService: new InMemoryCredentialService(), ...scope, authConfig: server.openIdConfig() }
  const { authUri, flowId } = await beginConsent({ ...flow, key: 'mail' })
  return { flow, flowId, authResponseUri: await new UserAgent().consent(authUri) }
}
