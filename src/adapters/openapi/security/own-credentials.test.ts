// Credentials that the developer sends in headers, calls without credentials, and schemes that cannot be used.
import { describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { ToolDispatcher } from '../../../engine/runner/single-call/tool-dispatcher.ts'
import { documentOf } from '../api-server.test-kit.ts'
import { OpenApiToolset, type OpenApiToolsetOptions } from '../openapi-toolset.ts'
import type { AuthOption } from './auth-option.ts'

const IMPLICIT = { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://a.example/auth', scopes: {} } } }
const SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  key: { type: 'apiKey', in: 'header', name: 'X-Pass' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
  query: { type: 'apiKey', in: 'query', name: 'k' },
  implicit: IMPLICIT,
  digest: { type: 'http', scheme: 'digest' },
  tls: { type: 'mutualTLS' },
}
const TOKEN: AuthOption = {
  rawAuthCredential: { authType: 'http', http: { scheme: 'bearer', credentials: { token: 'mine' } } },
}

type Alternative = { readonly [scheme: string]: readonly string[] }

/** Calls an operation with these security requirements. Returns the headers that were sent, or the error. */
async function call(
  security: readonly Alternative[],
  options: Partial<OpenApiToolsetOptions>,
  baseUrl = 'https://api.example.com',
) {
  const sent: Headers[] = []
  const lines: string[] = []
  const spec = documentOf(
    { '/x': { get: { operationId: 'get_x', security } } },
    { components: { securitySchemes: SCHEMES } },
  )
  const toolset = new OpenApiToolset({
    spec,
    baseUrl,
    logger: { warn: (line) => void lines.push(line), error: () => {} },
    fetch: async (request) => {
      sent.push(new Request(request).headers)
      return Response.json({ echo: 'my-long-key' })
    },
    ...options,
  })
  const result = await new ToolDispatcher()
    .register(toolset)
    .call('get_x')
    .catch((error: unknown) => error)
  return { sent: sent[0], result: result as JsonObject, lines }
}

describe('headers of the developer count as credentials', () => {
  test.each<[string, readonly Alternative[], Record<string, string>]>([
    ['Authorization for a bearer token', [{ bearer: [] }], { Authorization: 'Bearer mine' }],
    ['Authorization for a flow that cannot be used', [{ implicit: [] }], { authorization: 'Bearer mine' }],
    ['the header of an API key', [{ key: [] }], { 'x-pass': 'mine' }],
    ['the cookie of an API key', [{ cookie: [] }], { Cookie: 'a=1; sid=mine' }],
    ['two headers for two schemes', [{ bearer: [], key: [] }], { Authorization: 'Bearer mine', 'X-Pass': 'mine' }],
    ['the second alternative', [{ query: [] }, { bearer: [] }, { key: [] }], { 'X-Pass': 'mine' }],
  ])('%s', async (_, security, headers) => {
    const { sent, result, lines } = await call(security, { headers: () => headers })
    expect(result).toMatchObject({ status: 200 })
    for (const [name, value] of Object.entries(headers)) expect(sent?.get(name)).toBe(value)
    expect(lines).toEqual([])
  })

  test.each<[string, readonly Alternative[], Record<string, string>]>([
    ['another header', [{ key: [] }], { 'X-Tenant': 'acme' }],
    ['an empty header', [{ bearer: [] }], { Authorization: '' }],
    ['one of two headers', [{ bearer: [], key: [] }], { 'X-Pass': 'mine' }],
    ['another cookie', [{ cookie: [] }], { Cookie: 'other=sid=1' }],
    ['a header, for a key in the query', [{ query: [] }], { k: 'mine' }],
    ['a header, for a client certificate', [{ tls: [] }], { Authorization: 'Bearer mine' }],
  ])('but not %s: nothing is sent', async (_, security, headers) => {
    const { sent, result } = await call(security, { headers: () => headers })
    expect(result).toMatchObject({ code: 'AUTH_FAILED' })
    expect(sent).toBeUndefined()
  })

  test('beside credentials of the option auth', async () => {
    const options = { auth: { bearer: TOKEN as never }, headers: () => ({ 'X-Pass': 'mine' }) }
    const { sent } = await call([{ bearer: [], key: [] }], options)
    expect([sent?.get('authorization'), sent?.get('x-pass')]).toEqual(['Bearer mine', 'mine'])
  })

  test('and are kept secret under every name: hidden in results, and sent over https only', async () => {
    const headers = () => ({ 'X-Pass': 'my-long-key' })
    const { result } = await call([{ key: [] }], { headers })
    expect(JSON.stringify(result)).not.toContain('my-long-key')
    const plain = await call([{ key: [] }], { headers }, 'http://api.example.com')
    expect(plain.result).toMatchObject({ message: expect.stringContaining('http is not encrypted') })
    expect(plain.sent).toBeUndefined()
  })
})

describe("auth: 'anonymous'", () => {
  test('calls without credentials what the document protects', async () => {
    for (const scheme of Object.keys(SCHEMES)) {
      const { result, lines } = await call([{ [scheme]: [] }], { auth: 'anonymous' })
      expect(result).toMatchObject({ status: 200 })
      expect(lines).toEqual([])
    }
  })

  test('for one scheme sends the credentials of the others', async () => {
    const auth: AuthOption = { tls: 'anonymous', bearer: TOKEN as never }
    const { sent } = await call([{ tls: [], bearer: [] }], { auth })
    expect(sent?.get('authorization')).toBe('Bearer mine')
    const { result } = await call([{ key: [] }], { auth })
    expect(result).toMatchObject({ code: 'AUTH_FAILED' })
  })

  test('is the only word', () => {
    const options = { spec: documentOf({}), auth: 'none' } as unknown as OpenApiToolsetOptions
    expect(() => new OpenApiToolset(options)).toThrow('auth must be an AuthConfig, an object with one for each')
  })
})

describe('a call without credentials says why', () => {
  const raw = (credential: object) => ({ rawAuthCredential: credential }) as never
  const client = raw({ authType: 'oauth2', oauth2: { clientId: 'desk' } })

  test.each<[string, string, AuthOption | undefined, RegExp]>([
    [
      'nothing is set',
      'bearer',
      undefined,
      /scheme "bearer"\. .*option auth, .*option headers, or set auth: 'anonymous'/,
    ],
    ['the implicit flow is not used', 'implicit', { implicit: client }, /only the implicit flow.* Set a token/],
    [
      'a client certificate is not ours',
      'tls',
      { tls: client },
      /client certificate\. .*fetch, and set auth: \{ "tls": 'anony/,
    ],
    [
      'digest is not supported',
      'digest',
      undefined,
      /scheme "digest" is not supported\. Authenticate in the option fetch/,
    ],
    ['the configuration is for another type', 'key', TOKEN, /for a scheme of another type/],
    ['the scheme is not in the document', 'lost', undefined, /does not describe it/],
  ])('%s', async (_, scheme, auth, message) => {
    const { sent, result, lines } = await call([{ [scheme]: [] }], { auth })
    expect(result).toMatchObject({ code: 'AUTH_FAILED', message: expect.stringMatching(message) })
    expect(lines).toEqual([expect.stringMatching(message)])
    expect(sent).toBeUndefined()
  })

  test('a token serves a document whose flows cannot be used', async () => {
    for (const auth of [TOKEN, { implicit: TOKEN as never }]) {
      const { sent } = await call([{ implicit: ['read'] }], { auth })
      expect(sent?.get('authorization')).toBe('Bearer mine')
    }
  })

  test('the function of the headers is not called if they cannot help', async () => {
    const headers = vi.fn(() => ({}))
    await call([{ tls: [] }], { headers })
    expect(headers).not.toHaveBeenCalled()
  })
})
