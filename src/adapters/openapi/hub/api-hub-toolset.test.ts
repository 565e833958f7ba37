import { expect, test, vi } from 'vitest'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { createToolContext } from '../../testing/tool-context.ts'
import { documentOf, type Handler, sendJson, startApi } from '../api-server.test-kit.ts'
import { ApiHubToolset, type ApiHubToolsetOptions } from './api-hub-toolset.ts'

const API = 'projects/shop/locations/us-central1/apis/orders'
const spec = documentOf({ '/orders': { get: { operationId: 'list_orders' } } })
const contents = Buffer.from(JSON.stringify(spec)).toString('base64')
const ofType = (id: string) => ({ enumValues: { values: [{ id }] } })

/** The REST API of API Hub: two versions, of which the second has documents. */
const hub: Handler = ({ url, headers }, response) => {
  if (headers.authorization !== 'Bearer hub-token') return sendJson(response, { error: 'canary' }, 403)
  const answers = new Map<string, unknown>([
    [`/v1/${API}/versions`, { versions: [{ name: `${API}/versions/v1` }], nextPageToken: 'p 2' }],
    [`/v1/${API}/versions?pageToken=p%202`, { versions: [{ name: `${API}/versions/v2` }] }],
    [`/v1/${API}/versions/v1/specs`, {}],
    [
      `/v1/${API}/versions/v2/specs`,
      {
        specs: [
          { name: `${API}/versions/v2/specs/grpc`, specType: ofType('proto') },
          { name: `${API}/versions/v2/specs/rest`, specType: ofType('openapi') },
        ],
      },
    ],
    [`/v1/${API}/versions/v2/specs/rest:contents`, { contents, mimeType: 'application/json' }],
  ])
  const answer = answers.get(url)
  return answer === undefined ? sendJson(response, {}, 404) : sendJson(response, answer)
}

const options = (apihubUrl: string, more: Partial<ApiHubToolsetOptions> = {}): ApiHubToolsetOptions => ({
  apihubResourceName: API,
  apihubUrl,
  accessToken: 'hub-token',
  baseUrl: 'https://orders.example',
  logger: { warn: () => {}, error: () => {} },
  ...more,
})

test.each([API, `${API}/versions/v2`, `${API}/versions/v2/specs/rest`])('reads the document of %s', async (name) => {
  await using server = await startApi(hub)
  const toolset = new ApiHubToolset(options(server.url, { apihubResourceName: name }))
  const listed = await toolset.listTools(createToolContext())
  expect(listed.map((tool) => tool.name)).toEqual(['list_orders'])
  const count = server.seen.length
  await toolset.listTools(createToolContext())
  expect(server.seen).toHaveLength(count)
})

test('tells the operator when an API has several versions', async () => {
  await using server = await startApi(hub)
  const warn = vi.fn()
  await new ApiHubToolset(options(server.url, { logger: { warn, error: warn } })).listTools(createToolContext())
  expect(warn.mock.calls).toEqual([[expect.stringContaining('has 2 versions')]])
})

test('uses the credential of its authConfig', async () => {
  await using server = await startApi(hub)
  const raw = (token: string): AuthCredential => ({
    authType: 'http',
    http: { scheme: 'bearer', credentials: { token } },
  })
  const apihubAuth = { authScheme: { type: 'http', scheme: 'bearer' }, rawAuthCredential: raw('hub-token') } as const
  const toolset = new ApiHubToolset(options(server.url, { accessToken: undefined, apihubAuth }))
  expect(toolset.authConfig).toMatchObject(apihubAuth)
  await expect(toolset.listTools(createToolContext())).rejects.toThrow('needs context.authCredential')
  const wrong = createToolContext({ authCredential: raw('wrong') })
  await expect(toolset.listTools(wrong)).rejects.toThrow(/^API Hub answered with status 403\. Check/)
  const right = createToolContext({ authCredential: raw('hub-token') })
  expect(await toolset.listTools(right)).toHaveLength(1)
})

test.each([
  'orders',
  `${API}/versions`,
  `${API}/../other`,
  'projects/../locations/x/apis/y',
  `${API}?alt=media`,
  'https://evil.example/projects/p/locations/l/apis/a',
])('refuses the resource name %s', (apihubResourceName) => {
  expect(() => new ApiHubToolset({ apihubResourceName })).toThrow('apihubResourceName must be')
})

test('refuses an address that would get the token unencrypted, and names of a hostile hub', async () => {
  expect(() => new ApiHubToolset(options('http://hub.example'))).toThrow(/apihubUrl must be an https URL/)
  await using server = await startApi((_, response) => sendJson(response, { versions: [{ name: '../../secrets' }] }))
  await expect(new ApiHubToolset(options(server.url)).listTools(createToolContext())).rejects.toThrow(
    'no OpenAPI document',
  )
  expect(server.seen).toHaveLength(1)
  const hostile = [{ name: '../../secrets' }, { name: `${API}/versions/v1/specs/x?alt=media` }]
  await using versions = await startApi((_, response) => sendJson(response, { specs: hostile }))
  const named = new ApiHubToolset(options(versions.url, { apihubResourceName: `${API}/versions/v1` }))
  await expect(named.listTools(createToolContext())).rejects.toThrow('no OpenAPI document')
  expect(versions.seen).toHaveLength(1)
})

test('never takes the contents of a hub as the path of a local file', async () => {
  const path = Buffer.from('/nowhere.yaml').toString('base64')
  await using server = await startApi((_, response) => sendJson(response, { contents: path }))
  const toolset = new ApiHubToolset(options(server.url, { apihubResourceName: `${API}/versions/v1/specs/x` }))
  await expect(toolset.listTools(createToolContext())).rejects.not.toThrow(/read from/)
})
