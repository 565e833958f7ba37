import { describe, expect, test } from 'vitest'
import type { AuthConfig, AuthCredential } from '../../../core/content/auth.ts'
import { AuthError } from '../../../services/auth/auth-error.ts'
import { FakeWeb, ISSUER, metadataOf, REDIRECT_URI, SERVER_URL } from './fake-web.test-kit.ts'

const ENDPOINTS = { authorizationUrl: `${ISSUER}/authorize`, tokenUrl: `${ISSUER}/token` }

/** A client that the developer registered. */
const clientOf = (oauth2: AuthCredential['oauth2'] = {}): AuthConfig => ({
  rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'desk', clientSecret: 'hush', ...oauth2 } },
})

test('discovers the endpoints, registers a client and asks for the resource', async () => {
  const web = new FakeWeb()
  const config = await web.discover({ challenge: 'Bearer scope="mail.read"' })
  expect(config).toEqual({
    authScheme: { type: 'oauth2', flows: { authorizationCode: ENDPOINTS }, issuer: ISSUER, sendsIssuer: false },
    resource: SERVER_URL,
    scopes: ['mail.read'],
    credentialKey: expect.stringMatching(/^mcp_[0-9a-f]{32}$/),
    rawAuthCredential: {
      authType: 'oauth2',
      oauth2: {
        clientId: 'client-1',
        clientSecret: 'issued',
        redirectUri: REDIRECT_URI,
        tokenEndpointAuthMethod: 'client_secret_post',
      },
      custom: { registration: expect.stringMatching(/^oauth-client:/) },
    },
  })
  const registration = JSON.parse(String(web.sent.at(-1)?.init.body))
  expect(registration).toMatchObject({
    client_name: 'app',
    redirect_uris: [REDIRECT_URI],
    application_type: 'web',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_post',
  })
})

test('a second discovery uses the registered client and the same key', async () => {
  const web = new FakeWeb()
  const [first, second] = [await web.discover(), await web.discover({ challenge: 'Bearer scope="other"' })]
  expect(web.countOf(`${ISSUER}/register`)).toBe(1)
  expect(second.credentialKey).toBe(first.credentialKey)
  expect(second.rawAuthCredential).toEqual(first.rawAuthCredential)
})

test('discoveries at the same time agree on one client', async () => {
  const web = new FakeWeb()
  const configs = await Promise.all([web.discover(), web.discover(), web.discover()])
  expect(new Set(configs.map((config) => config.rawAuthCredential?.oauth2?.clientId)).size).toBe(1)
})

test('another user gets a client of its own', async () => {
  const web = new FakeWeb()
  const [ada, bob] = [await web.discover(), await web.discover({ userId: 'bob' })]
  expect(bob.rawAuthCredential?.oauth2?.clientId).not.toBe(ada.rawAuthCredential?.oauth2?.clientId)
})

test('a client secret that has expired is registered again', async () => {
  const web = new FakeWeb()
  const past = Math.floor(Date.now() / 1000) - 10
  const client = { redirect_uris: [REDIRECT_URI], client_id: 'old', client_secret: 's', client_secret_expires_at: past }
  web.pages.set(`${ISSUER}/register`, () => Response.json(client))
  await web.discover()
  await web.discover()
  expect(web.countOf(`${ISSUER}/register`)).toBe(2)
})

test('a client metadata document replaces registration at a server that supports it', async () => {
  const clientMetadata = { redirectUris: [REDIRECT_URI], clientMetadataUrl: 'https://app.example.com/client.json' }
  const web = new FakeWeb({ metadata: { client_id_metadata_document_supported: true } })
  const config = await web.discover({ clientMetadata })
  expect(config.rawAuthCredential?.oauth2).toEqual({
    clientId: 'https://app.example.com/client.json',
    redirectUri: REDIRECT_URI,
    tokenEndpointAuthMethod: 'none',
  })
  const other = await new FakeWeb().discover({ clientMetadata })
  expect(other.rawAuthCredential?.oauth2?.clientId).toBe('client-1')
})

test('a client metadata document needs an https URL with a path', async () => {
  for (const clientMetadataUrl of ['http://app.example.com/client.json', 'https://app.example.com', 'client.json']) {
    const clientMetadata = { redirectUris: [REDIRECT_URI], clientMetadataUrl }
    await expect(new FakeWeb().discover({ clientMetadata })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  }
})

test('a stored client of another issuer is not used', async () => {
  const web = new FakeWeb()
  const config = await web.discover()
  const row = { appName: 'app', userId: 'ada', key: String(config.rawAuthCredential?.custom?.registration) }
  const stored = await web.credentialService.load(row)
  if (!stored) throw new Error('The client was not stored.')
  const credential = { ...stored.credential, custom: { issuer: 'https://evil.example.com' } }
  await web.credentialService.save({ ...row, credential })
  expect((await web.discover()).rawAuthCredential?.oauth2?.clientId).toBe('client-2')
})

describe('scopes', () => {
  const resource = { scopes_supported: ['a', 'b'] }
  test.each([
    ['the challenge first', { resource }, 'Bearer scope="c d"', ['c', 'd']],
    ['then the resource', { resource }, undefined, ['a', 'b']],
    ['then the developer', {}, undefined, ['mine']],
    ['the valid scopes of a challenge', { resource }, 'Bearer scope="ok b\\ad ok"', ['ok']],
    ['the developer if the challenge cannot be read', {}, 'Bearer scope="\u0001"', ['mine']],
  ])('come from %s', async (_, changes, challenge, scopes) => {
    const config = await new FakeWeb(changes).discover({ challenge, auth: { scopes: ['mine'] } })
    expect(config.scopes).toEqual(scopes)
  })

  test('are omitted if no one names any', async () => {
    expect(await new FakeWeb().discover()).not.toHaveProperty('scopes')
  })

  test('include offline_access only if the authorization server has it', async () => {
    const challenge = 'Bearer scope="a"'
    const web = new FakeWeb({ metadata: { scopes_supported: ['a', 'offline_access'] } })
    expect((await web.discover({ challenge })).scopes).toEqual(['a', 'offline_access'])
    expect((await new FakeWeb().discover({ challenge })).scopes).toEqual(['a'])
    const own = await web.discover({ challenge, auth: clientOf(), clientMetadata: {} })
    expect(own.scopes, 'a client without users').toEqual(['a'])
  })
})

describe('the client of the developer', () => {
  test('is used without registration, in the way that the server supports', async () => {
    const web = new FakeWeb()
    const config = await web.discover({ auth: clientOf() })
    expect(config.rawAuthCredential?.oauth2).toMatchObject({
      clientId: 'desk',
      clientSecret: 'hush',
      redirectUri: REDIRECT_URI,
      tokenEndpointAuthMethod: 'client_secret_post',
    })
    expect(web.countOf(`${ISSUER}/register`)).toBe(0)
  })

  test('gets a token for itself if it has a secret and no redirect URI', async () => {
    const config = await new FakeWeb().discover({ auth: clientOf(), clientMetadata: {} })
    expect(config.authScheme).toMatchObject({ flows: { clientCredentials: { tokenUrl: `${ISSUER}/token` } } })
  })

  test('is not given to another authorization server', async () => {
    const web = new FakeWeb()
    await web.discover({ auth: clientOf() })
    web.addIssuer('https://evil.example.com')
    Object.assign(web.resource, { authorization_servers: ['https://evil.example.com'] })
    await expect(web.discover({ auth: clientOf() })).rejects.toThrow('has changed its authorization server')
    await expect(web.discover({ auth: clientOf({ issuer: ISSUER }), userId: 'new' })).rejects.toThrow(
      'belongs to another',
    )
    const moved = await web.discover({ auth: clientOf({ issuer: 'https://evil.example.com' }) })
    expect(moved.authScheme, 'the developer has confirmed the new server').toMatchObject({
      issuer: 'https://evil.example.com',
    })
  })
})

test('a registered client and its tokens stay with their authorization server', async () => {
  const web = new FakeWeb()
  const before = await web.discover()
  web.addIssuer('https://next.example.com')
  Object.assign(web.resource, { authorization_servers: ['https://next.example.com'] })
  const after = await web.discover()
  expect(after.rawAuthCredential?.oauth2?.clientId).toBe('client-2')
  expect(after.credentialKey).not.toBe(before.credentialKey)
})

describe('a configuration with a scheme', () => {
  test('is used as it is, without discovery', async () => {
    const web = new FakeWeb()
    const auth: AuthConfig = {
      authScheme: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      rawAuthCredential: { authType: 'apiKey', apiKey: 'key' },
    }
    expect(await web.discover({ auth })).toMatchObject(auth)
    expect(web.sent).toEqual([])
  })
})

describe('refuses', () => {
  test('a resource of another server, before its authorization server is asked', async () => {
    const web = new FakeWeb({ resource: { resource: 'https://bank.example.com/mcp' } })
    await expect(web.discover()).rejects.toThrow('says that it is the resource https://bank.example.com')
    expect(web.hosts()).toEqual(['mcp.example.com'])
  })

  test('metadata of another issuer', async () => {
    const web = new FakeWeb({ metadata: { issuer: 'https://bank.example.com' } })
    await expect(web.discover()).rejects.toThrow('names another issuer')
  })

  test('an authorization server without PKCE', async () => {
    const web = new FakeWeb({ metadata: { code_challenge_methods_supported: ['plain'] } })
    await expect(web.discover()).rejects.toThrow('does not support PKCE')
  })

  test('an authorization server without metadata or registration', async () => {
    const web = new FakeWeb({ metadata: { registration_endpoint: undefined } })
    await expect(web.discover()).rejects.toThrow('does not register clients')
    web.pages.delete(`${ISSUER}/.well-known/oauth-authorization-server`)
    await expect(web.discover()).rejects.toThrow('publishes no metadata')
  })

  test('a registration that failed, without its text', async () => {
    const web = new FakeWeb()
    web.pages.set(`${ISSUER}/register`, () =>
      Response.json({ error: 'invalid', error_description: 'canary' }, { status: 400 }),
    )
    const error = await web.discover().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AuthError)
    expect(String(error)).toContain('did not register a client')
    expect(String(error)).not.toContain('canary')
  })

  test('to ask a user without a redirect URI', async () => {
    await expect(new FakeWeb().discover({ clientMetadata: {} })).rejects.toThrow('Set clientMetadata.redirectUris')
  })

  test('a server with a key, and names the status instead of redirect URIs', async () => {
    const web = new FakeWeb()
    web.pages.clear()
    for (const clientMetadata of [{}, { redirectUris: [REDIRECT_URI] }]) {
      const error = await web.discover({ clientMetadata }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(AuthError)
      expect(String(error)).toMatch(/answered with status 401 .* no OAuth metadata\. .*connection\.headers.*auth/)
      expect(String(error)).not.toMatch(/redirect|by hand/)
    }
  })

  test('a key of the option auth that the server refuses', async () => {
    const authScheme = { type: 'apiKey', in: 'header', name: 'x-key' } as const
    const credential = { authType: 'apiKey', apiKey: 'wrong-key' }
    const auth = { authScheme, rawAuthCredential: credential }
    const web = new FakeWeb()
    expect(await web.discover({ auth })).toMatchObject(auth) // not sent yet
    const error = await web.discover({ auth, credential }).catch((thrown: unknown) => thrown)
    expect(String(error)).toMatch(/status 401 .*refuses the credential of the option auth/)
    expect(String(error)).not.toContain('wrong-key')
  })

  test('metadata that is no JSON', async () => {
    const web = new FakeWeb()
    web.pages.set(`${ISSUER}/.well-known/oauth-authorization-server`, () => new Response('<html>canary'))
    const error = await web.discover().catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('could not be read')
    expect(String(error)).not.toContain('canary')
  })
})

describe('a server of 2025-03-26', () => {
  const origin = 'https://mcp.example.com'
  const legacy = (): FakeWeb => {
    const web = new FakeWeb()
    web.pages.clear()
    return web
  }

  test('is its own authorization server', async () => {
    const web = legacy()
    web.addIssuer(origin)
    const config = await web.discover()
    expect(config.authScheme).toMatchObject({ issuer: origin })
    expect(config.resource).toBeUndefined()
  })

  test('without metadata has the default endpoints', async () => {
    const web = legacy()
    web.addIssuer(origin)
    web.pages.delete(`${origin}/.well-known/oauth-authorization-server`)
    const authorizationCode = { authorizationUrl: `${origin}/authorize`, tokenUrl: `${origin}/token` }
    expect((await web.discover()).authScheme).toEqual({ type: 'oauth2', flows: { authorizationCode } })
  })

  test('may name an issuer on its origin, but no other', async () => {
    const web = legacy()
    web.addIssuer(origin, metadataOf(`${origin}/oauth`, { registration_endpoint: `${origin}/register` }))
    expect((await web.discover()).authScheme).toMatchObject({ issuer: `${origin}/oauth` })
    web.addIssuer(origin, metadataOf('https://bank.example.com'))
    await expect(web.discover()).rejects.toThrow('names another issuer')
  })
})

test('an aborted discovery rejects with the reason', async () => {
  const stop = new AbortController()
  const web = new FakeWeb()
  web.pages.set(`${ISSUER}/.well-known/oauth-authorization-server`, () => {
    stop.abort(new Error('stopped'))
    throw new Error('aborted')
  })
  await expect(web.discover({ signal: stop.signal })).rejects.toThrow('stopped')
})
