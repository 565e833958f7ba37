// OA-08: a secret of a request is in no result, error, artifact or log, also if the server sends it back.
import { describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../core/base/json.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import { InMemoryArtifactService } from '../../services/artifact/in-memory.ts'
import { callTool, documentOf, type Handler, startApi, toolsOf } from './api-server.test-kit.ts'
import type { OpenApiToolsetOptions } from './openapi-toolset.ts'

const SECRET = 'canary/secret+1"é'
const ASCII = 'canary/secret+1"='

const schemes: [string, JsonObject, AuthCredential][] = [
  ['a key in the query', { type: 'apiKey', in: 'query', name: 'key' }, { authType: 'apiKey', apiKey: SECRET }],
  ['a key in a header', { type: 'apiKey', in: 'header', name: 'x-key' }, { authType: 'apiKey', apiKey: ASCII }],
  [
    'a bearer token',
    { type: 'http', scheme: 'bearer' },
    { authType: 'http', http: { scheme: 'bearer', credentials: { token: ASCII } } },
  ],
  [
    'a password',
    { type: 'http', scheme: 'Basic' },
    { authType: 'http', http: { scheme: 'basic', credentials: { username: 'ada', password: SECRET } } },
  ],
]

/** Everything that the server got, in the forms in which servers repeat it. */
function echo({ url, headers }: Parameters<Handler>[0]): string {
  const query = new URL(url, 'http://127.0.0.1').searchParams
  const basic = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString()
  return [url, ...Object.values(headers), ...query.values(), basic, JSON.stringify(query.get('key'))].join(' | ')
}

async function open(scheme: JsonObject, rawAuthCredential: AuthCredential, handler: Handler) {
  const api = await startApi(handler)
  const spec = documentOf(
    { '/things/{id}': { get: { operationId: 'get_thing', parameters: [{ name: 'id', in: 'path', required: true }] } } },
    { components: { securitySchemes: { main: scheme } }, security: [{ main: [] }] },
  )
  const warn = vi.fn()
  const auth: OpenApiToolsetOptions['auth'] = { main: { rawAuthCredential } satisfies AuthConfig }
  const tools = await toolsOf({ spec, baseUrl: api.url, auth, logger: { warn, error: warn } })
  const artifactService = new InMemoryArtifactService()
  const call = () =>
    callTool(tools, 'get_thing', { args: { id: '1' }, authCredential: rawAuthCredential, artifactService })
  return { api, call, warn, artifactService, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() }
}

describe.each(schemes)('%s', (_, scheme, credential) => {
  const shown = (value: unknown): string =>
    value instanceof Error ? `${value.stack} ${JSON.stringify(value)} ${String(value.cause)}` : JSON.stringify(value)

  test('reaches the server', async () => {
    await using one = await open(scheme, credential, (request, response) => response.end(echo(request)))
    await one.call()
    expect(echo(one.api.seen[0] as never)).toContain('canary')
  })

  test.each([
    ['a text', 'text/plain', 200],
    ['JSON', 'application/json', 200],
    ['an error', 'text/plain', 500],
    ['an error in JSON', 'application/json', 403],
    ['a file', 'image/png', 200],
    ['a response without a type', '', 200],
  ])('is hidden when the server repeats it in %s', async (_name, type, status) => {
    await using one = await open(scheme, credential, (request, response) => {
      const text = echo(request)
      const body = type === 'application/json' ? JSON.stringify({ echo: text, [text]: [text] }) : text
      response.writeHead(status, type ? { 'content-type': type } : {}).end(body)
    })
    const result = await one.call().catch((error) => error)
    expect(one.api.seen).toHaveLength(1)
    expect(shown(result)).not.toMatch(/canary|Y2FuYXJ5/)
    expect(JSON.stringify(one.warn.mock.calls)).not.toContain('canary')
    expect(
      await one.artifactService.listArtifactKeys({ appName: 'app', userId: 'user', sessionId: 'session' }),
    ).toEqual([])
  })

  test('is hidden in the error of a redirect and of a lost connection', async () => {
    await using redirect = await open(scheme, credential, (request, response) =>
      response.writeHead(302, { location: `http://127.0.0.9/?${encodeURIComponent(echo(request))}` }).end(),
    )
    expect(shown(await redirect.call().catch((error) => error))).not.toContain('canary')
    expect(redirect.api.seen).toHaveLength(1)
    await using lost = await open(scheme, credential, (_request, response) => response.destroy())
    expect(shown(await lost.call().catch((error) => error))).not.toContain('canary')
  })
})

test('a redirect to a host that contains the secret does not show it', async () => {
  const credential: AuthCredential = { authType: 'apiKey', apiKey: 'canary-key' }
  const securitySchemes = { main: { type: 'apiKey', in: 'query', name: 'key' } }
  const paths = { '/': { get: { operationId: 'root' } } }
  const fetch = vi.fn(
    async () => new Response(null, { status: 302, headers: { location: 'https://canary-key.example' } }),
  )
  const spec = documentOf(paths, { components: { securitySchemes }, security: [{ main: [] }] })
  const auth = { main: { rawAuthCredential: credential } }
  const tools = await toolsOf({ spec, baseUrl: 'https://api.example.com', auth, fetch })
  await expect(callTool(tools, 'root', { authCredential: credential })).rejects.toThrow(
    'redirects to https://[hidden].example',
  )
  expect(fetch).toHaveBeenCalledTimes(1)
})

test('other text of the response stays', async () => {
  const [, scheme, credential] = schemes[0] as (typeof schemes)[0]
  await using one = await open(scheme, credential, (_, response) => response.end('canary birds sing'))
  expect(await one.call()).toEqual({ status: 200, body: 'canary birds sing' })
})

test('a secret in a header of the developer is hidden too', async () => {
  await using api = await startApi((request, response) => response.end(echo(request)))
  const headers = () => ({ authorization: `Token ${ASCII}`, 'x-tenant': 'acme' })
  const tools = await toolsOf({
    spec: documentOf({ '/': { get: { operationId: 'root' } } }),
    baseUrl: api.url,
    headers,
  })
  const result = JSON.stringify(await callTool(tools, 'root'))
  expect(result).not.toContain('canary')
  expect(result).toContain('acme')
})
