// Configurations whose authorization server was discovered: its issuer is known, and tokens are for one resource. The token
// endpoint is an injected fetch.
import { describe, expect, test } from 'vitest'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import { createTestServices, type TestServices } from './auth-services.test-kit.ts'
import { checkAuthConfig } from './config/check-auth-config.ts'
import { completeOpenConsent } from './consent/complete-open-consent.ts'
import type { ConsentOutcome } from './consent/consent-record.ts'
import { openConsent } from './consent/open-consent.ts'
import { readConsentAnswer } from './consent/read-consent-answer.ts'
import { resolveCredential } from './resolve-credential.ts'

const ISSUER = 'https://auth.example.com'
const RESOURCE = 'https://mcp.example.com/mcp'
const KEY = 'mail'

function configOf(changes: {
  issuer?: string
  sendsIssuer?: boolean
  config?: Partial<AuthConfig>
  client?: AuthCredential['oauth2']
}): AuthConfig {
  const { issuer = ISSUER, sendsIssuer = false, config, client } = changes
  const flow = { authorizationUrl: `${issuer}/authorize`, tokenUrl: `${issuer}/token` }
  return {
    authScheme: { type: 'oauth2', flows: { authorizationCode: flow }, issuer, sendsIssuer },
    resource: RESOURCE,
    scopes: ['mail.read'],
    rawAuthCredential: {
      authType: 'oauth2',
      oauth2: { clientId: 'desk-1', redirectUri: 'https://app.example.com/callback', ...client },
      custom: { registration: 'oauth-client:1' },
    },
    ...config,
  }
}

interface TokenEndpoint {
  readonly services: TestServices
  readonly forms: { readonly url: string; readonly form: URLSearchParams; readonly headers: Headers }[]
  /** The next response. */
  respond: () => Response
}

function createTokenEndpoint(): TokenEndpoint {
  const forms: TokenEndpoint['forms'] = []
  let issued = 0
  const endpoint: Omit<TokenEndpoint, 'services'> = {
    forms,
    respond: () =>
      Response.json({
        access_token: `a${++issued}`,
        refresh_token: `r${issued}`,
        token_type: 'Bearer',
        expires_in: 60,
      }),
  }
  const fetch: typeof globalThis.fetch = async (url, init) => {
    forms.push({ url: String(url), form: new URLSearchParams(String(init?.body)), headers: new Headers(init?.headers) })
    return endpoint.respond()
  }
  return Object.assign(endpoint, { services: createTestServices({ fetch }) })
}

/** Consents, and answers with the given `iss`. Returns the authorization URL and the outcome. */
async function consent(
  { services }: TokenEndpoint,
  authConfig: AuthConfig,
  iss?: string,
): Promise<{ authUri: URL; outcome: ConsentOutcome }> {
  const id = services.ports.newId()
  const shown = await openConsent(services, { id, key: KEY, config: checkAuthConfig(authConfig, 'the test') })
  const authUri = new URL(shown.exchangedAuthCredential?.oauth2?.authUri ?? '')
  const callback = new URL('https://app.example.com/callback')
  const parameters = { code: 'c', state: authUri.searchParams.get('state') ?? '', ...(iss !== undefined && { iss }) }
  for (const [name, value] of Object.entries(parameters)) callback.searchParams.set(name, value)
  const answer = readConsentAnswer({ authResponseUri: callback.href })
  if (!answer) throw new Error('The callback URL was not read.')
  return { authUri, outcome: await completeOpenConsent(services, { id, answer, allowedRedirectUris: [] }) }
}

const resolve = ({ services }: TokenEndpoint, config: AuthConfig) =>
  resolveCredential(services, KEY, checkAuthConfig(config, 'the test'))

describe('iss of the callback', () => {
  test.each([
    ['the issuer, if it is announced', true, ISSUER],
    ['the issuer, if it is not announced', false, ISSUER],
    ['missing, if it is not announced', false, undefined],
  ])('is accepted: %s', async (_, sendsIssuer, iss) => {
    const endpoint = createTokenEndpoint()
    const { outcome } = await consent(endpoint, configOf({ sendsIssuer }), iss)
    expect(outcome.status).toBe('stored')
  })

  test.each([
    ['missing, although it is announced', true, undefined],
    ['another issuer', true, 'https://evil.example.com'],
    ['another issuer that is not announced', false, 'https://evil.example.com'],
    ['the issuer with a slash', true, `${ISSUER}/`],
    ['the issuer in capitals', true, ISSUER.toUpperCase()],
    ['the issuer with its port', true, `${ISSUER}:443`],
  ])('is refused before the code is sent: %s', async (_, sendsIssuer, iss) => {
    const endpoint = createTokenEndpoint()
    const { outcome } = await consent(endpoint, configOf({ sendsIssuer }), iss)
    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('"iss"') })
    expect(endpoint.forms).toEqual([])
  })
})

test('the resource is in the authorization URL, and in the exchange and refresh requests', async () => {
  const endpoint = createTokenEndpoint()
  const { authUri } = await consent(endpoint, configOf({}))
  endpoint.services.advance(61)
  await resolve(endpoint, configOf({}))
  expect(authUri.searchParams.get('resource')).toBe(RESOURCE)
  expect(endpoint.forms.map(({ form }) => [form.get('grant_type'), form.get('resource')])).toEqual([
    ['authorization_code', RESOURCE],
    ['refresh_token', RESOURCE],
  ])
})

test('offline_access asks for a consent page', async () => {
  const { authUri } = await consent(createTokenEndpoint(), configOf({ config: { scopes: ['a', 'offline_access'] } }))
  expect(authUri.searchParams.get('prompt')).toBe('consent')
})

describe('a stored token', () => {
  test.each([
    ['another issuer', configOf({ issuer: 'https://next.example.com' })],
    ['another resource', configOf({ config: { resource: 'https://other.example.com/mcp' } })],
    ['a scope that was not requested', configOf({ config: { requiredScopes: ['mail.read', 'mail.write'] } })],
  ])('is neither used nor refreshed for %s', async (_, config) => {
    const endpoint = createTokenEndpoint()
    await consent(endpoint, configOf({}))
    expect((await resolve(endpoint, configOf({}))).status, 'for the same').toBe('ready')
    endpoint.services.advance(61)
    expect(await resolve(endpoint, config)).toEqual({ status: 'needs-auth' })
    expect(endpoint.forms).toHaveLength(1)
  })

  test('keeps its requested scopes after a refresh', async () => {
    const endpoint = createTokenEndpoint()
    const scopes = ['mail.read', 'mail.write']
    await consent(endpoint, configOf({ config: { scopes } }))
    endpoint.services.advance(61)
    expect((await resolve(endpoint, configOf({}))).status).toBe('ready')
    expect((await resolve(endpoint, configOf({ config: { requiredScopes: scopes } }))).status).toBe('ready')
  })
})

describe('a client authenticates', () => {
  const authorizationOf = async (client: AuthCredential['oauth2']) => {
    const endpoint = createTokenEndpoint()
    await consent(endpoint, configOf({ client }))
    const { form, headers } = endpoint.forms[0] ?? { form: new URLSearchParams(), headers: new Headers() }
    return { form: Object.fromEntries(form), header: headers.get('authorization') }
  }

  test('with basic authentication, which leaves "-" and "_" as they are', async () => {
    const { header } = await authorizationOf({ clientSecret: 'a-b_c.d e&' })
    expect(atob(header?.replace('Basic ', '') ?? '')).toBe('desk-1:a-b_c.d+e%26')
  })

  test('in the form, if client_secret_post is set', async () => {
    const client = { clientSecret: 'hush', tokenEndpointAuthMethod: 'client_secret_post' } as const
    expect(await authorizationOf(client)).toMatchObject({ form: { client_secret: 'hush' }, header: null })
  })

  test('without its secret, if none is set', async () => {
    const { form, header } = await authorizationOf({ clientSecret: 'hush', tokenEndpointAuthMethod: 'none' })
    expect(form).toMatchObject({ client_id: 'desk-1' })
    expect(form).not.toHaveProperty('client_secret')
    expect(header).toBeNull()
  })

  test.each([
    ['ES256', { name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', hash: 'SHA-256' }],
    [
      'RS256',
      { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
      { name: 'RSASSA-PKCS1-v1_5' },
    ],
  ])('with a JWT for the issuer, signed by its key (%s)', async (alg, kind, verification) => {
    const { privateKey, publicKey } = (await crypto.subtle.generateKey(kind, true, ['sign', 'verify'])) as CryptoKeyPair
    const base64 = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64')
    const pem = `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----`
    const { form } = await authorizationOf({ privateKey: pem })
    const [header = '', payload = '', signature = ''] = form.client_assertion?.split('.') ?? []
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(read(header)).toMatchObject({ alg })
    expect(read(payload)).toMatchObject({ iss: 'desk-1', sub: 'desk-1', aud: ISSUER })
    const data = new TextEncoder().encode(`${header}.${payload}`)
    expect(await crypto.subtle.verify(verification, publicKey, Buffer.from(signature, 'base64url'), data)).toBe(true)
  })

  test('not at all with a key that is damaged', async () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'
    const { outcome } = await consent(createTokenEndpoint(), configOf({ client: { privateKey: pem } }))
    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringContaining('could not be signed') })
  })
})

describe('the record of a registered client', () => {
  const recordOf = async (error: string) => {
    const endpoint = createTokenEndpoint()
    const { credentialService, appName, userId } = endpoint.services
    const row = { appName, userId, key: 'oauth-client:1' }
    await credentialService.save({ ...row, credential: { authType: 'oauthClient' } })
    await consent(endpoint, configOf({}))
    endpoint.services.advance(61)
    endpoint.respond = () => Response.json({ error }, { status: 400 })
    const outcome = await resolve(endpoint, configOf({}))
    return { outcome, row: await credentialService.load(row) }
  }

  test('is deleted when the server no longer knows the client', async () => {
    const { outcome, row } = await recordOf('invalid_client')
    expect(outcome.status).toBe('failed')
    expect(row).toBeUndefined()
  })

  test('stays after another error', async () => {
    expect((await recordOf('server_error')).row).toBeDefined()
    expect((await recordOf('invalid_grant')).row).toBeDefined()
  })
})

test('a client does not see the issuer binding of its secrets', async () => {
  const { services } = createTokenEndpoint()
  const config = checkAuthConfig(configOf({ client: { clientSecret: 'hush', issuer: ISSUER } }), 'the test')
  const shown = JSON.stringify(await openConsent(services, { id: '1', key: KEY, config }))
  expect(shown).not.toContain('hush')
  expect(shown).not.toContain('oauth-client:')
  expect(JSON.parse(shown)).toMatchObject({ resource: RESOURCE, authScheme: { issuer: ISSUER } })
})
