// A document may name several servers. Credentials go to the origin of the API, and to origins that the developer trusts.
import { describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { ToolDispatcher } from '../../../engine/runner/single-call/tool-dispatcher.ts'
import { documentOf } from '../api-server.test-kit.ts'
import { OpenApiToolset, type OpenApiToolsetOptions } from '../openapi-toolset.ts'

const API = 'https://api.example.com'
const OTHER = 'https://evil.example'
const KEY = { k: { rawAuthCredential: { authType: 'apiKey', apiKey: 'sk-secret' } } } as const
const components = { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X-Pass' } } }
const secured = { components, security: [{ k: [] }] }
const servers = [{ url: `${API}/v1` }]

/** `get_x` is at the server of the document, `get_y` at its own. */
function twoServers(more: JsonObject = {}, { own = OTHER, y = {} }: { own?: string; y?: JsonObject } = {}): JsonObject {
  const getY = { get: { operationId: 'getY', ...y }, servers: [{ url: own }] }
  return documentOf({ '/x': { get: { operationId: 'getX' } }, '/y': getY }, { servers, ...secured, ...more })
}

/** Calls both operations. Nothing is sent: `fetch` records. */
async function callBoth(spec: JsonObject, options: Partial<OpenApiToolsetOptions>) {
  const sent: { readonly origin: string; readonly headers: JsonObject }[] = []
  const lines: string[] = []
  const toolset = new OpenApiToolset({
    name: 'shop',
    spec,
    logger: { warn: (line) => void lines.push(line), error: () => {} },
    fetch: async (input) => {
      const { url, headers } = new Request(input)
      sent.push({ origin: new URL(url).origin, headers: Object.fromEntries(headers) })
      return Response.json({ ok: true })
    },
    ...options,
  })
  const dispatcher = new ToolDispatcher().register(toolset)
  const call = (name: string): Promise<unknown> => dispatcher.call(name).catch((error: unknown) => error)
  const results = [await call('get_x'), await call('get_y')]
  return { sent, lines, results, passes: sent.map(({ origin, headers }) => [origin, headers['x-pass']]) }
}

const refused = expect.objectContaining({
  code: 'AUTH_FAILED',
  message: expect.stringMatching(
    /"get_y" is sent to https:\/\/evil\.example, but .* https:\/\/api\.example\.com\. .*trustedOrigins.*baseUrl/,
  ),
})

describe('a key does not reach the other server that a document names', () => {
  test.each<[string, Partial<OpenApiToolsetOptions>]>([
    ['from auth', { auth: KEY }],
    ['from headers', { headers: () => ({ 'X-Pass': 'sk-secret' }) }],
    ['from headers, for calls without auth', { auth: 'anonymous', headers: () => ({ 'X-Pass': 'sk-secret' }) }],
  ])('%s', async (_, options) => {
    const { passes, results, lines } = await callBoth(twoServers(), options)
    expect(passes).toEqual([[API, 'sk-secret']])
    expect(results).toEqual([expect.objectContaining({ status: 200 }), refused])
    expect(lines).toEqual([
      expect.stringMatching(/^Toolset "shop": Operation "get_y" is sent to https:\/\/evil\.example/),
    ])
  })

  test('of an operation', async () => {
    const spec = documentOf(
      { '/x': { get: { operationId: 'getX' } }, '/y': { get: { operationId: 'getY', servers: [{ url: OTHER }] } } },
      { servers, ...secured },
    )
    const { passes, results } = await callBoth(spec, { auth: KEY })
    expect(passes).toEqual([[API, 'sk-secret']])
    expect(results[1]).toEqual(refused)
  })

  test.each(['http://api.example.com', `${API}:8443`, 'https://api.example.com.evil.example', 'https://example.com'])(
    'also not %s, which looks like it',
    async (own) => {
      const { passes } = await callBoth(twoServers({}, { own }), { auth: KEY })
      expect(passes).toEqual([[API, 'sk-secret']])
    },
  )

  test('if a document has no security schemes', async () => {
    const spec = twoServers({ components: {}, security: [] })
    const headers = vi.fn(() => ({ Authorization: 'Bearer sk-secret', Cookie: 'sid=1' }))
    const { sent, results } = await callBoth(spec, { headers })
    expect(sent).toEqual([{ origin: API, headers: expect.objectContaining({ authorization: 'Bearer sk-secret' }) }])
    expect(results[1]).toEqual(refused)
    const authScheme = { type: 'apiKey', in: 'header', name: 'X-Pass' } as const
    const both = await callBoth(spec, { auth: { authScheme, ...KEY.k } })
    expect(both.passes).toEqual([[API, 'sk-secret']])
  })

  test('and no user is asked for a consent that would be used there', async () => {
    const oauth = {
      type: 'oauth2',
      flows: { authorizationCode: { authorizationUrl: `${API}/a`, tokenUrl: `${API}/t`, scopes: {} } },
    }
    const spec = twoServers({ components: { securitySchemes: { k: oauth } } })
    const auth = { k: { rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'desk' } } } } as const
    const toolset = new OpenApiToolset({ spec, auth, logger: { warn: () => {}, error: () => {} } })
    const tools = await toolset.listTools({} as never)
    expect(tools.map(({ authConfig }) => authConfig !== undefined)).toEqual([true, false])
  })
})

describe('an operation at another server that needs no credentials is sent without them', () => {
  test.each([
    ['it has no security', []],
    ['its security is optional', [{ k: [] }, {}]],
  ])('%s', async (_, security) => {
    const headers = () => ({ Authorization: 'Bearer sk-secret', 'X-Tenant': 'acme' })
    const { sent, results, lines } = await callBoth(twoServers({}, { y: { security } }), { auth: KEY, headers })
    expect(results[1]).toMatchObject({ status: 200 })
    expect(sent.map(({ origin, headers: own }) => [origin, own['x-pass'], own.authorization, own['x-tenant']])).toEqual(
      [
        [API, 'sk-secret', 'Bearer sk-secret', 'acme'],
        [OTHER, undefined, undefined, undefined],
      ],
    )
    expect(lines).toEqual([expect.stringMatching(/"get_y" .*without credentials and without the option headers/)])
  })

  test('headers that are no credentials are left out there, and the call is sent', async () => {
    const spec = twoServers({ components: {}, security: [] })
    const { sent, lines } = await callBoth(spec, { headers: () => ({ 'X-Tenant': 'acme' }) })
    expect(sent.map(({ origin, headers }) => [origin, headers['x-tenant']])).toEqual([
      [API, 'acme'],
      [OTHER, undefined],
    ])
    expect(lines).toEqual([expect.stringContaining('Its calls fail if that option returns credentials.')])
  })

  test('without a warning if there is nothing to leave out', async () => {
    const { sent, lines } = await callBoth(twoServers(), { auth: 'anonymous' })
    expect(sent.map(({ origin }) => origin)).toEqual([API, OTHER])
    expect(lines).toEqual([])
  })
})

describe('credentials reach', () => {
  test('several servers of one origin', async () => {
    const { passes, lines } = await callBoth(twoServers({}, { own: 'https://API.example.com:443/v2' }), { auth: KEY })
    expect(passes).toEqual([
      [API, 'sk-secret'],
      [API, 'sk-secret'],
    ])
    expect(lines).toEqual([])
  })

  test.each<[string, Partial<OpenApiToolsetOptions>]>([
    ['auth', { auth: KEY }],
    ['headers', { headers: () => ({ 'X-Pass': 'sk-secret' }) }],
  ])('trustedOrigins, from %s', async (_, options) => {
    const own = 'https://uploads.example.com'
    const trustedOrigins = ['https://uploads.example.com/']
    const { passes, lines } = await callBoth(twoServers({}, { own: `${own}/v1` }), { ...options, trustedOrigins })
    expect(passes).toEqual([
      [API, 'sk-secret'],
      [own, 'sk-secret'],
    ])
    expect(lines).toEqual([])
  })

  test('baseUrl, which replaces every server', async () => {
    const { passes } = await callBoth(twoServers(), { auth: KEY, baseUrl: 'https://good.example/v1' })
    expect(passes).toEqual([
      ['https://good.example', 'sk-secret'],
      ['https://good.example', 'sk-secret'],
    ])
  })

  test('the one origin of all operations, if the document names no server for all of them', async () => {
    const at = (url: string, operationId: string) => ({ servers: [{ url }], get: { operationId } })
    const one = documentOf({ '/x': at(API, 'getX'), '/y': at(`${API}/v2`, 'getY') }, secured)
    expect((await callBoth(one, { auth: KEY })).passes).toHaveLength(2)
    const two = documentOf({ '/x': at(API, 'getX'), '/y': at(OTHER, 'getY') }, secured)
    for (const toolFilter of [undefined, ['get_y']]) {
      const { passes, lines } = await callBoth(two, { auth: KEY, toolFilter })
      expect(passes).toEqual([])
      expect(lines).toContainEqual(expect.stringMatching(/evil\.example, but .* its origin is unknown/))
    }
    const relative = documentOf({ '/x': { get: { operationId: 'getX' } }, '/y': at(OTHER, 'getY') }, secured)
    for (const root of [{}, { servers: [{ url: '/v1' }] }])
      expect((await callBoth({ ...relative, ...root }, { auth: KEY })).passes).toEqual([])
    expect((await callBoth(two, { auth: KEY, trustedOrigins: [API] })).passes).toEqual([[API, 'sk-secret']])
  })

  test('the host of a Swagger document', async () => {
    const paths = { '/x': { get: { operationId: 'getX' } }, '/y': { get: { operationId: 'getY', schemes: ['https'] } } }
    const securityDefinitions = components.securitySchemes
    const info = { title: 'Test', version: '1' }
    const spec = { swagger: '2.0', info, host: 'api.example.com', paths, securityDefinitions, security: [{ k: [] }] }
    expect((await callBoth(spec, { auth: KEY })).passes).toHaveLength(2)
  })
})

test('operations at one other server are one warning', async () => {
  const paths = Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [`/${name}`, { servers: [{ url: OTHER }], get: { operationId: name } }]),
  )
  const { lines } = await callBoth(documentOf(paths, { servers, ...secured }), { auth: KEY })
  expect(lines).toEqual([
    expect.stringMatching(/: Operation "a", Operation "b", Operation "c" are sent to https:\/\/evil\.example, but/),
  ])
})

test.each<[unknown]>([
  ['https://uploads.example.com'],
  [['http://uploads.example.com']],
  [['https://uploads.example.com/v1']],
  [['https://ada:pw@uploads.example.com']],
  [['https://uploads.example.com?x=1']],
  [['uploads.example.com']],
  [['*']],
  [[1]],
])('trustedOrigins: %j is refused', (trustedOrigins) => {
  const options = { spec: twoServers(), trustedOrigins } as unknown as OpenApiToolsetOptions
  expect(() => new OpenApiToolset(options)).toThrow('trustedOrigins must be a list of https origins such as')
})

test('trustedOrigins: an origin of this machine may be http', () => {
  expect(new OpenApiToolset({ spec: twoServers(), trustedOrigins: ['http://127.0.0.1:8080'] }).name).toBe('openapi')
})
