import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../core/base/json.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { DiscoveryEngineSearchOptions } from './discovery-engine-options.ts'
import { discoveryEngineSearch } from './discovery-engine-search.ts'

const dataStoreId = 'projects/p/locations/eu/collections/default_collection/dataStores/docs'

interface Seen {
  readonly url: string
  readonly authorization: string | undefined
  readonly body: string
}
interface Answer {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Record<string, string>
}

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections()
  vi.unstubAllEnvs()
})

async function serve(answer: (seen: Seen) => Answer): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const one = { url: request.url ?? '', authorization: request.headers.authorization, body: await text(request) }
    seen.push(one)
    const { status = 200, body, headers } = answer(one)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** The response a model gets to one search. */
async function search(options: Omit<DiscoveryEngineSearchOptions, 'dataStoreId'>): Promise<JsonObject> {
  const model = scriptedModel([{ calls: [{ name: 'discovery_engine_search', args: { query: 'tea' } }] }, 'done'])
  const agent = new LlmAgent({ name: 'agent', model, tools: [discoveryEngineSearch({ dataStoreId, ...options })] })
  const { events } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'go' })
  return events[1]?.content?.parts[0]?.functionResponse?.response ?? {}
}

const chunk = { content: 'Tea is hot.', documentMetadata: { title: 'Tea', uri: 'https://example.com/tea' } }
const found = { results: [{ title: 'Tea', url: 'https://example.com/tea', content: 'Tea is hot.' }] }

test('discoveryEngineSearch() finds passages with the token in the header and the query in the body', async () => {
  const { url, seen } = await serve(() => ({ body: { results: [{ chunk }] } }))
  expect(
    await search({ baseUrl: url, accessToken: async () => 'secret', filter: 'a: ANY("b")', maxResults: 2 }),
  ).toEqual(found)
  expect(seen[0]).toMatchObject({
    url: `/v1beta/${dataStoreId}/servingConfigs/default_config:search`,
    authorization: 'Bearer secret',
  })
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    query: 'tea',
    pageSize: 2,
    filter: 'a: ANY("b")',
    contentSearchSpec: { searchResultMode: 'CHUNKS' },
  })
})

test('discoveryEngineSearch() searches documents in a data store without passages', async () => {
  const derivedStructData = {
    title: 'Tea',
    link: 'https://example.com/tea',
    snippets: [{ snippet: 'is hot.' }],
    extractive_answers: [{ content: 'Tea' }],
  }
  const { url, seen } = await serve(({ body }) =>
    body.includes('CHUNKS')
      ? { status: 400, body: { error: { message: 'CHUNKS is not supported' } } }
      : { body: { results: [{ document: { derivedStructData } }, { document: { structData: { price: 3 } } }] } },
  )
  expect(await search({ baseUrl: url, accessToken: 't' })).toEqual({
    results: [
      { title: 'Tea', url: 'https://example.com/tea', content: 'Tea\nis hot.' },
      { title: '', url: '', content: '{"price":3}' },
    ],
  })
  expect(seen).toHaveLength(2)
})

test('discoveryEngineSearch() does not change the given searchResultMode', async () => {
  const { url, seen } = await serve(() => ({ status: 400, body: { error: { message: 'CHUNKS is not supported' } } }))
  expect(await search({ baseUrl: url, accessToken: 't', searchResultMode: 'chunks' })).toEqual({
    error: 'The search service responded with status 400: CHUNKS is not supported',
    errorCode: 'EXECUTION_FAILED',
  })
  expect(seen).toHaveLength(1)
})

describe('a failed discoveryEngineSearch() is reported to the model without the token', () => {
  test.each<[string, Answer, RegExp]>([
    ['a rejection', { status: 403, body: { error: { message: 'no access' } } }, /403: no access/],
    ['an error without a message', { status: 500, body: '' }, /500/],
    ['a response that is not JSON', { body: '<html>' }, /not JSON/],
    ['an endless response', { body: `"${'x'.repeat(5_000_000)}"` }, /longer than/],
    ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:9/' } }, /status 302/],
  ])('for %s', async (_, answer, message) => {
    const { url } = await serve(() => answer)
    const { error } = await search({ baseUrl: url, accessToken: 'secret-token' })
    expect(error).toMatch(message)
    expect(error).not.toContain('secret-token')
  })

  test.each([{ results: 'x' }, { results: [null, 1, {}, { chunk: 3 }] }, []])(
    'but results of another shape are ignored: %j',
    async (body) => {
      const { url } = await serve(() => ({ body }))
      expect(await search({ baseUrl: url, accessToken: 't' })).toEqual({ results: [] })
    },
  )
})

test('discoveryEngineSearch() uses the application default credentials without a token', async () => {
  const { url, seen } = await serve(({ url: path }) =>
    path === '/token'
      ? {
          body: {
            access_token: 'from-key',
            issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
            expires_in: 3600,
            token_type: 'Bearer',
          },
        }
      : { body: {} },
  )
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  const file = join(folder, 'key.json')
  writeFileSync(join(folder, 'subject'), 'who-i-am')
  const account = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${url}/token`,
    credential_source: { file: join(folder, 'subject') },
  }
  writeFileSync(file, JSON.stringify(account))
  vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'p')
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file)
  try {
    await search({ baseUrl: url })
  } finally {
    rmSync(folder, { recursive: true })
  }
  expect(seen.at(-1)?.authorization).toBe('Bearer from-key')
})

test.each([0, 1.5, 101])('discoveryEngineSearch() rejects maxResults %d', (maxResults) => {
  expect(() => discoveryEngineSearch({ dataStoreId, maxResults })).toThrow('maxResults')
})
