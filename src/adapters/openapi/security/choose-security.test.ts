import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import type { AuthConfig, AuthCredential } from '../../../core/content/auth.ts'
import { callTool, documentOf, startApi, toolsOf } from '../api-server.test-kit.ts'
import { operationOf } from '../operation.test-kit.ts'
import type { ApiOperation } from '../operation.ts'
import type { AuthOption } from './auth-option.ts'
import { chooseSecurity, type Security } from './choose-security.ts'

const OAUTH = {
  authorizationUrl: 'https://a.example/auth',
  tokenUrl: 'https://a.example/token',
  scopes: { read: 'Read', write: 'Write' },
}
const SCHEMES = new Map<string, JsonObject>([
  ['key', { type: 'apiKey', in: 'header', name: 'x-key', description: 'A key' }],
  ['app', { type: 'apiKey', in: 'query', name: 'app' }],
  ['basic', { type: 'http', scheme: 'Basic' }],
  ['bearer', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }],
  ['oauth', { type: 'oauth2', flows: { authorizationCode: OAUTH, implicit: OAUTH } }],
  ['machine', { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.example/token' } } }],
  ['oidc', { type: 'openIdConnect', openIdConnectUrl: 'https://a.example/.well-known/openid-configuration' }],
  ['implicit', { type: 'oauth2', flows: { implicit: OAUTH } }],
  ['digest', { type: 'http', scheme: 'digest' }],
  ['tls', { type: 'mutualTLS' }],
])

const apiKey = (value: string): AuthConfig => ({ rawAuthCredential: { authType: 'apiKey', apiKey: value } })
const client = (authType: string): AuthConfig => ({
  rawAuthCredential: { authType, oauth2: { clientId: 'desk', clientSecret: 'secret' } },
})

type Alternative = { readonly [scheme: string]: readonly string[] }

function choose(auth: AuthOption | undefined, ...alternatives: Alternative[]): Security {
  const security = alternatives.map((one) => Object.entries(one).map(([scheme, scopes]) => ({ scheme, scopes })))
  const operation: ApiOperation = operationOf({ security })
  const context = { auth, hasHeaders: false, schemes: SCHEMES, operations: [operation], what: 'Toolset "api"' }
  return chooseSecurity(operation, context)
}

/** The chosen schemes, as text. */
function chosen(auth: AuthOption | undefined, ...alternatives: Alternative[]): string {
  const security = choose(auth, ...alternatives)
  if (security.type !== 'usable')
    return `missing ${/scheme (".*?")\. /.exec(security.problem)?.[1]?.replaceAll('"', '')}`
  return security.configs.map(({ authScheme }) => authScheme.type).join(' and ') || 'anonymous'
}

describe('alternatives', () => {
  test('the first one whose schemes are all configured is used', () => {
    const auth = { key: apiKey('k'), app: apiKey('a') }
    expect(chosen(auth, { key: [], app: [] })).toBe('apiKey and apiKey')
    expect(chosen({ app: apiKey('a') }, { key: [] }, { app: [] })).toBe('apiKey')
    expect(chosen({ key: apiKey('k') }, { key: [], app: [] }, { bearer: [] })).toBe('missing key and app')
  })

  test('an anonymous one is used when no other is configured, wherever it stands', () => {
    expect(chosen(undefined, {}, { key: [] })).toBe('anonymous')
    expect(chosen({ key: apiKey('k') }, {}, { key: [] })).toBe('apiKey')
    expect(chosen(undefined, { key: [] })).toBe('missing key')
    expect(chosen(undefined)).toBe('anonymous')
  })

  test('one configuration serves every scheme of its type, but never two at once', () => {
    expect(chosen(apiKey('k'), { key: [] })).toBe('apiKey')
    expect(chosen(apiKey('k'), { bearer: [] }, { app: [] })).toBe('apiKey')
    expect(chosen(apiKey('k'), { key: [], app: [] })).toBe('missing key and app')
    const named: AuthConfig = { ...apiKey('k'), authScheme: { type: 'apiKey', in: 'header', name: 'x-key' } }
    expect(chosen(named, { app: [] })).toBe('missing app')
    expect(chosen(client('oauth2'), { key: [] }, { oauth: [] })).toBe('oauth2')
  })

  test('a service account or a provider serves schemes with bearer tokens', () => {
    const github: AuthConfig = { provider: 'github', ...client('oauth2') }
    expect(chosen(github, { basic: [] }, { bearer: [] })).toBe('oauth2')
    expect(chosen(github, { basic: [] })).toBe('missing basic')
  })
})

describe('schemes of the document', () => {
  test('complete a configuration that only has a credential', () => {
    const http = (scheme: string, credentials: object): AuthConfig => ({
      rawAuthCredential: { authType: 'http', http: { scheme, credentials } },
    })
    expect(chosen({ basic: http('basic', { username: 'a', password: 'b' }) }, { basic: [] })).toBe('http')
    expect(chosen({ bearer: http('bearer', { token: 't' }) }, { bearer: [] })).toBe('http')
    expect(chosen({ oauth: client('oauth2') }, { oauth: ['read'] })).toBe('oauth2')
    expect(chosen({ machine: client('oauth2') }, { machine: [] })).toBe('oauth2')
    expect(chosen({ oidc: client('openIdConnect') }, { oidc: ['mail'] })).toBe('openIdConnect')
  })

  test('that no credential can satisfy are missing, unless the developer sets authScheme', () => {
    for (const name of ['implicit', 'digest', 'tls'])
      expect(chosen({ [name]: client('oauth2') }, { [name]: [] })).toBe(`missing ${name}`)
    const authScheme = { type: 'oauth2', flows: { authorizationCode: OAUTH } } as const
    expect(chosen({ implicit: { ...client('oauth2'), authScheme } }, { implicit: [] })).toBe('oauth2')
  })

  test('the scopes of the operation are requested with those of the developer, and no others', () => {
    const scopes = (auth: AuthOption, wanted: string[]) => {
      const security = choose(auth, { oauth: wanted })
      return security.type === 'usable' ? security.configs[0]?.config.scopes : undefined
    }
    expect(scopes({ oauth: client('oauth2') }, ['read'])).toEqual(['read'])
    expect(scopes({ oauth: { ...client('oauth2'), scopes: ['offline_access'] } }, ['read'])).toEqual([
      'offline_access',
      'read',
    ])
  })
})

describe('a request', () => {
  const CREDENTIALS: AuthCredential[] = [
    { authType: 'apiKey', apiKey: 'first-key' },
    { authType: 'apiKey', apiKey: 'second key&' },
  ]
  const components = { securitySchemes: Object.fromEntries(SCHEMES) }

  test('without configured credentials fails with the scheme and the option, and is not sent', async () => {
    await using api = await startApi()
    const spec = documentOf({ '/': { get: { operationId: 'root', security: [{ key: [] }] } } }, { components })
    const tools = await toolsOf({ spec, baseUrl: api.url })
    await expect(callTool(tools, 'root')).rejects.toMatchObject({
      name: 'ToolError',
      code: 'AUTH_FAILED',
      message: expect.stringMatching(/"key".*option auth/),
    })
    expect(api.seen).toEqual([])
  })

  test('carries each credential in its place, and replaces arguments of the same name', async () => {
    await using api = await startApi()
    const parameters = ['app', 'q'].map((name) => ({ name, in: 'query' }))
    const post = {
      operationId: 'add',
      parameters,
      security: [{ app: [] }],
      requestBody: { content: { 'application/json': {} } },
    }
    const spec = documentOf({ '/': { post } }, { components })
    const tools = await toolsOf({ spec, baseUrl: api.url, auth: { app: apiKey('second key&') } })
    const args = { app: 'forged', q: 'a b', body: { x: 1 } }
    await callTool(tools, 'add', { args, authCredential: CREDENTIALS[1] })
    expect(api.seen[0]).toMatchObject({ url: '/?q=a%20b&app=second+key%26', body: Buffer.from('{"x":1}') })
  })

  test('without a credential in the context is not sent', async () => {
    await using api = await startApi()
    const spec = documentOf({ '/': { get: { operationId: 'root', security: [{ key: [] }] } } }, { components })
    const tools = await toolsOf({ spec, baseUrl: api.url, auth: { key: apiKey('k') } })
    await expect(callTool(tools, 'root')).rejects.toMatchObject({ code: 'AUTH_FAILED' })
    expect(api.seen).toEqual([])
    await callTool(tools, 'root', { authCredential: CREDENTIALS[0] })
    expect(api.seen[0]?.headers['x-key']).toBe('first-key')
  })
})
