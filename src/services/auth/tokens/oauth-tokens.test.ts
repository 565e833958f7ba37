import { describe, expect, test } from 'vitest'
import { systemPorts } from '../../../core/base/ports.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { AuthError } from '../auth-error.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../authorization-server.test-kit.ts'
import { type CheckedAuthConfig, checkAuthConfig } from '../config/check-auth-config.ts'
import { UserAgent } from '../user-agent.test-kit.ts'
import {
  createAuthorizationRequest,
  exchangeCode,
  refreshTokens,
  requestClientToken,
  type TokenHttp,
  type Tokens,
} from './oauth-tokens.ts'

const NOW = 1_800_000_000_500
const http: TokenHttp = { ports: { ...systemPorts, now: () => NOW } }
const checked = (config: AuthConfig): CheckedAuthConfig => checkAuthConfig(config, 'Tool "mail"')

const KINDS = ['openIdConfig', 'oauth2Config'] as const

describe.each(KINDS)('with %s', (kind) => {
  test('a code flow through the login and consent pages returns tokens', async () => {
    await using server = await startAuthorizationServer()
    const { tokens, callback } = await consent(server, checked(server[kind]()))
    expect(callback.searchParams.get('iss')).toBe(server.issuer)
    expect(await server.useToken(tokens.accessToken ?? '')).toBe(200)
    expect(tokens).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      idToken: expect.any(String),
      expiresAt: 1_800_000_000 + 3600,
      scopes: expect.arrayContaining(['openid', 'mail']),
    })
    expect(server.tokenRequests).toEqual([
      { grant: 'authorization_code', clientAuthentication: 'basic', error: undefined },
    ])
  })

  test('refreshTokens() returns new tokens and the rotated refresh token', async () => {
    await using server = await startAuthorizationServer()
    const config = checked(server[kind]())
    const { tokens } = await consent(server, config)
    const fresh = await refreshTokens(http, config, tokens)
    expect(fresh.accessToken).not.toBe(tokens.accessToken)
    expect(fresh.refreshToken).not.toBe(tokens.refreshToken)
    expect(await server.useToken(fresh.accessToken ?? '')).toBe(200)
  })
})

test('refreshTokens() keeps the refresh token of a server that returns the same one', async () => {
  await using server = await startAuthorizationServer({ rotates: false })
  const config = checked(server.openIdConfig())
  const { tokens } = await consent(server, config)
  expect((await refreshTokens(http, config, tokens)).refreshToken).toBe(tokens.refreshToken)
})

test('refreshTokens() throws a final AuthError for a refresh token that was used before, and for its successor', async () => {
  await using server = await startAuthorizationServer()
  const config = checked(server.openIdConfig())
  const { tokens } = await consent(server, config)
  const fresh = await refreshTokens(http, config, tokens)
  await expect(refreshTokens(http, config, tokens)).rejects.toMatchObject({ name: 'AuthError', isFinal: true })
  await expect(refreshTokens(http, config, fresh)).rejects.toMatchObject({ name: 'AuthError', isFinal: true })
})

test('refreshTokens() throws a final AuthError after the user revoked the consent', async () => {
  await using server = await startAuthorizationServer()
  const config = checked(server.openIdConfig())
  const { tokens } = await consent(server, config)
  await server.revoke(tokens.refreshToken ?? '')
  await expect(refreshTokens(http, config, tokens)).rejects.toEqual(
    new AuthError(
      `The authorization server ${server.issuer} refused the request "invalid_grant" (status 400). A new consent is needed.`,
      { isFinal: true },
    ),
  )
})

test('refreshTokens() throws a final AuthError without a refresh token', async () => {
  const config = checked({ provider: 'github', rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'a' } } })
  await expect(refreshTokens(http, config, { accessToken: 'a' })).rejects.toMatchObject({ isFinal: true })
})

test('requestClientToken() returns a token of the client itself', async () => {
  await using server = await startAuthorizationServer({ accessTokenSeconds: 60 })
  const tokens = await requestClientToken(http, checked(server.clientCredentialsConfig()))
  expect(tokens).toEqual({ accessToken: expect.any(String), expiresAt: 1_800_000_000 + 60 })
  expect(server.tokenRequests).toEqual([
    { grant: 'client_credentials', clientAuthentication: 'basic', error: undefined },
  ])
})

test('requestClientToken() names what to check for a wrong client secret, without the secret', async () => {
  await using server = await startAuthorizationServer()
  const config = server.clientCredentialsConfig()
  const oauth2 = { ...config.rawAuthCredential?.oauth2, clientSecret: 'canary-of-a-secret' }
  const error = await requestClientToken(
    http,
    checked({ ...config, rawAuthCredential: { authType: 'oauth2', oauth2 } }),
  ).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'AuthError', isFinal: false })
  expect(error).not.toHaveProperty('cause')
  expect(String(error)).toContain('"invalid_client" (status 401). Check clientId and clientSecret.')
  expect(String(error)).not.toContain('canary')
})

test('a discovered server that excludes client_secret_basic gets the secret in the form', async () => {
  await using server = await startAuthorizationServer({
    client: { token_endpoint_auth_method: 'client_secret_post' },
    configuration: { clientAuthMethods: ['client_secret_post', 'none'] },
  })
  await consent(server, checked(server.openIdConfig()))
  expect(server.tokenRequests).toEqual([
    { grant: 'authorization_code', clientAuthentication: 'post', error: undefined },
  ])
})

test('a public client exchanges its code without a secret', async () => {
  await using server = await startAuthorizationServer({
    client: { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] },
  })
  const { authScheme, rawAuthCredential } = server.openIdConfig()
  const { clientSecret: _, ...oauth2 } = rawAuthCredential?.oauth2 ?? {}
  const config = { ...(authScheme && { authScheme }), rawAuthCredential: { authType: 'openIdConnect', oauth2 } }
  const { tokens } = await consent(server, checked(config))
  expect(await server.useToken(tokens.accessToken ?? '')).toBe(200)
  expect(server.tokenRequests).toEqual([
    { grant: 'authorization_code', clientAuthentication: 'none', error: undefined },
  ])
})

test('exchangeCode() throws a final AuthError for a code that was used before', async () => {
  await using server = await startAuthorizationServer()
  const config = checked(server.openIdConfig())
  const { answer } = await consent(server, config)
  await expect(exchangeCode(http, config, answer)).rejects.toMatchObject({ isFinal: true })
})

test('exchangeCode() fails for the code verifier of another consent', async () => {
  await using server = await startAuthorizationServer()
  const config = checked(server.openIdConfig())
  const { answer } = await askUser(server, config)
  const codeVerifier = 'v'.repeat(43)
  await expect(exchangeCode(http, config, { ...answer, codeVerifier })).rejects.toMatchObject({ isFinal: true })
})

describe('exchangeCode() with discovery sends the code nowhere if', () => {
  test.each<[string, string | undefined, string]>([
    ['iss is of another server', 'https://attacker.example', 'has the "iss" of another server'],
    ['iss is missing', undefined, 'has no "iss"'],
  ])('%s', async (_, iss, message) => {
    await using server = await startAuthorizationServer()
    const config = checked(server.openIdConfig())
    const { answer } = await askUser(server, config)
    await expect(exchangeCode(http, config, { ...answer, iss })).rejects.toThrow(message)
    expect(server.tokenRequests).toEqual([])
    expect(await exchangeCode(http, config, answer), 'the honest answer').toHaveProperty('accessToken')
  })
})

test('exchangeCode() ignores iss without discovery', async () => {
  await using server = await startAuthorizationServer()
  const config = checked(server.oauth2Config())
  const { answer } = await askUser(server, config)
  expect(await exchangeCode(http, config, { ...answer, iss: 'https://other.example' })).toHaveProperty('accessToken')
})

async function askUser(server: AuthorizationServer, config: CheckedAuthConfig) {
  const { authUri, state, codeVerifier, redirectUri } = await createAuthorizationRequest(http, config, undefined)
  const callback = new URL(await new UserAgent().consent(authUri))
  expect(callback.searchParams.get('state')).toBe(state)
  expect(redirectUri).toBe(server.redirectUri)
  const iss = callback.searchParams.get('iss') ?? undefined
  const answer = { code: callback.searchParams.get('code') ?? '', iss, codeVerifier, redirectUri }
  return { callback, answer }
}

async function consent(
  server: AuthorizationServer,
  config: CheckedAuthConfig,
): Promise<{ tokens: Tokens; callback: URL; answer: { code: string } }> {
  const { callback, answer } = await askUser(server, config)
  return { tokens: await exchangeCode(http, config, answer), callback, answer }
}
