// Server-side tools (Google Search, URL context, ...): sent with the request, or wrapped in an agent tool when a model rejects them next to functions.
import {
  codeExecution,
  discoveryEngineSearch,
  enterpriseWebSearch,
  googleMapsGrounding,
  googleSearch,
  LlmAgent,
  type Model,
  Runner,
  StaticToolset,
  type Tool,
  tool,
  urlContext,
  vertexAiSearch,
} from 'toolwright'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { offeredTools, recordingLogger, silentLogger } from './kit.ts'

const serverTools = [
  'googleSearch',
  'urlContext',
  'codeExecution',
  'googleMaps',
  'enterpriseWebSearch',
  'vertexAiSearch',
]
const modest: Model['capabilities'] = { serverTools }
const able: Model['capabilities'] = { serverTools, serverToolsWithFunctions: true }
const dataStoreId = 'projects/p/locations/global/collections/default_collection/dataStores/docs'

const add = tool({
  name: 'add',
  description: 'Add',
  parameters: z.object({ a: z.number() }),
  run: ({ a }) => ({ sum: a + 1 }),
})

function stage(
  tools: ConstructorParameters<typeof LlmAgent>[0]['tools'],
  capabilities: Model['capabilities'],
  steps: readonly ScriptedStep[] = ['done'],
  options: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {},
): { model: ScriptedModel; runner: Runner } {
  const model = scriptedModel(steps, { capabilities })
  const agent = new LlmAgent({ name: 'agent', model, tools, ...options })
  return { model, runner: new Runner({ appName: 'app', agent, logger: silentLogger }) }
}

const serverToolsOf = (model: ScriptedModel, at = 0): readonly unknown[] =>
  (model.requests[at]?.config.tools ?? []).filter((entry) => !entry.functionDeclarations)

const ask = { userId: 'ada', message: 'go' }

describe('a server-side tool alone', () => {
  test.each<[string, Tool, object]>([
    ['googleSearch', googleSearch(), { googleSearch: {} }],
    ['urlContext', urlContext(), { urlContext: {} }],
    ['codeExecution', codeExecution(), { codeExecution: {} }],
    ['googleMapsGrounding', googleMapsGrounding(), { googleMaps: {} }],
    ['enterpriseWebSearch', enterpriseWebSearch(), { enterpriseWebSearch: {} }],
    [
      'vertexAiSearch',
      vertexAiSearch({ dataStoreId, filter: 'year > 2020', maxResults: 3 }),
      { retrieval: { vertexAiSearch: { datastore: dataStoreId, filter: 'year > 2020', maxResults: 3 } } },
    ],
  ])('(%s) is one entry of the request and cannot be called by the model', async (_, handle, entry) => {
    const { model, runner } = stage([handle], modest, [{ calls: [{ name: handle.name }] }, 'done'])
    const { events } = await runner.complete(ask)
    expect(serverToolsOf(model)).toEqual([entry])
    expect(serverToolsOf(model, 1)).toEqual([entry])
    expect(offeredTools(model)).toEqual([])
    expect(events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({ errorCode: 'NOT_FOUND' })
  })

  test('is sent once when it is listed twice', async () => {
    const { model, runner } = stage([googleSearch(), [googleSearch()]], able)
    await runner.complete(ask)
    expect(serverToolsOf(model)).toEqual([{ googleSearch: {} }])
  })

  test('is rejected when vertexAiSearch is listed twice with different data stores under one name', () => {
    const other = `${dataStoreId}-2`
    expect(() => stage([vertexAiSearch({ dataStoreId }), vertexAiSearch({ dataStoreId: other })], able)).toThrow(
      'twice',
    )
  })

  test('is rejected, when the runner is built, for a model without server-side tools', () => {
    expect(() => stage([googleSearch()], undefined)).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        message: expect.stringMatching(/google_search.*agent.*gemini/s),
      }),
    )
  })

  test('is rejected for a scripted model with the capabilities that a test passes', () => {
    const problem = "A scripted model of a test gets { capabilities: { serverTools: ['googleSearch'] } }."
    expect(() => stage([googleSearch()], undefined)).toThrow(problem)
    expect(() => stage([googleSearch()], { serverTools: ['googleSearch'] })).not.toThrow()
  })

  test('is rejected with the list of supported tools when the model does not support it', () => {
    expect(() => stage([urlContext()], { serverTools: ['googleSearch'] })).toThrow(
      'does not support urlContext. It supports googleSearch.',
    )
  })

  test('adds grounding metadata to the event', async () => {
    const groundingMetadata = { webSearchQueries: ['x'] }
    const { runner } = stage([googleSearch()], modest, [{ text: 'found', response: { groundingMetadata } }])
    const { events } = await runner.complete(ask)
    expect(events.at(-1)?.groundingMetadata).toEqual(groundingMetadata)
  })
})

describe('server-side tools next to each other', () => {
  const combinableServerTools = [['googleSearch', 'urlContext']]

  test('are sent in one request to a model that combines them', async () => {
    const { model, runner } = stage([googleSearch(), urlContext()], { serverTools, combinableServerTools })
    await runner.complete(ask)
    expect(serverToolsOf(model)).toEqual([{ googleSearch: {} }, { urlContext: {} }])
    expect(offeredTools(model)).toEqual([])
  })

  test.each<[string, readonly Tool[]]>([
    ['with one that is not in the group', [googleSearch(), urlContext(), codeExecution()]],
    ['with a function', [googleSearch(), urlContext(), add]],
  ])('become agent tools %s', async (_, tools) => {
    const { model, runner } = stage(tools, { serverTools, combinableServerTools })
    await runner.complete(ask)
    expect(serverToolsOf(model)).toEqual([])
    expect(offeredTools(model)).toHaveLength(3)
  })
})

describe('a server-side tool next to function tools', () => {
  test('is sent in one request to a model that supports both', async () => {
    const { model, runner } = stage([googleSearch(), add], able)
    await runner.complete(ask)
    expect(serverToolsOf(model)).toEqual([{ googleSearch: {} }])
    expect(offeredTools(model)).toEqual(['add'])
  })

  test('becomes an agent tool that asks the same model without functions', async () => {
    const groundingMetadata = { webSearchQueries: ['weather oslo'] }
    const { model, runner } = stage([googleSearch(), add], modest, [
      {
        calls: [
          { name: 'google_search', args: { request: 'weather oslo' } },
          { name: 'add', args: { a: 1 } },
        ],
      },
      { text: 'It rains.', response: { groundingMetadata } },
      'It rains in Oslo.',
    ])
    const { text, events } = await runner.complete(ask)
    expect(text).toBe('It rains in Oslo.')
    expect(offeredTools(model)).toEqual(['google_search', 'add'])
    expect(serverToolsOf(model)).toEqual([])
    expect(serverToolsOf(model, 1)).toEqual([{ googleSearch: {} }])
    expect(offeredTools(model, 1)).toEqual([])
    expect(
      events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionResponse?.response ?? []) ?? []),
    ).toEqual([{ text: 'It rains.' }, { sum: 2 }])
    expect(events.at(-1)?.groundingMetadata).toEqual(groundingMetadata) // on the answer of the caller's agent too
  })

  test("does not replace the grounding metadata of the caller's agent", async () => {
    const { runner } = stage([googleSearch(), add], modest, [
      { calls: [{ name: 'google_search', args: { request: 'x' } }] },
      { text: 'inner', response: { groundingMetadata: { webSearchQueries: ['inner'] } } },
      { text: 'outer', response: { groundingMetadata: { webSearchQueries: ['outer'] } } },
    ])
    const { events } = await runner.complete(ask)
    expect(events.at(-1)?.groundingMetadata).toEqual({ webSearchQueries: ['outer'] })
  })

  test('becomes an agent tool next to a second server-side tool', async () => {
    const { model, runner } = stage([googleSearch(), urlContext()], modest)
    await runner.complete(ask)
    expect(offeredTools(model)).toEqual(['google_search', 'url_context'])
    expect(serverToolsOf(model)).toEqual([])
  })

  test('becomes an agent tool when the agent has transfers or an outputSchema', async () => {
    const child = new LlmAgent({ name: 'child', description: 'helps' })
    const transfer = stage([googleSearch()], modest, ['done'], { subAgents: [child] })
    await transfer.runner.complete(ask)
    expect(offeredTools(transfer.model)).toEqual(['google_search', 'transfer_to_agent'])
    const typed = stage([googleSearch()], modest, [{ calls: [{ name: 'set_model_response', args: { n: 1 } }] }], {
      outputSchema: z.object({ n: z.number() }),
    })
    await typed.runner.complete(ask)
    expect(offeredTools(typed.model)).toEqual(['google_search', 'set_model_response'])
  })

  test('becomes an agent tool when a toolset lists a function tool', async () => {
    const { model, runner } = stage([googleSearch(), new StaticToolset([add])], modest)
    await runner.complete(ask)
    expect(offeredTools(model)).toEqual(['google_search', 'add'])
    expect(serverToolsOf(model)).toEqual([])
  })

  test('from a toolset is left out and logged when the model does not support it', async () => {
    const logger = recordingLogger()
    const model = scriptedModel(['done'])
    const agent = new LlmAgent({ name: 'agent', model, tools: [new StaticToolset([googleSearch(), add])] })
    await new Runner({ appName: 'app', agent, logger }).complete(ask)
    expect(offeredTools(model)).toEqual(['add'])
    expect(logger.lines.join()).toContain('google_search')
  })

  test('becomes a local search when vertexAiSearch has bypassMultiToolsLimit', async () => {
    const requests: { url: string; body: unknown }[] = []
    const send: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      requests.push({ url: request.url, body: await request.json() })
      return Response.json({
        results: [{ chunk: { content: 'It is so.', documentMetadata: { title: 'T', uri: 'u' } } }],
      })
    }
    const search = vertexAiSearch({ dataStoreId, bypassMultiToolsLimit: true, accessToken: 't', fetch: send })
    const { model, runner } = stage([search, add], modest, [
      { calls: [{ name: 'vertex_ai_search', args: { query: 'what' } }] },
      'done',
    ])
    const { events } = await runner.complete(ask)
    expect(offeredTools(model)).toEqual(['vertex_ai_search', 'add'])
    expect(requests[0]?.url).toContain(`${dataStoreId}/servingConfigs/default_config:search`)
    expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
      results: [{ title: 'T', url: 'u', content: 'It is so.' }],
    })
  })

  test('becomes an agent tool when vertexAiSearch has no bypassMultiToolsLimit', async () => {
    const { model, runner } = stage([vertexAiSearch({ dataStoreId }), add], modest, [
      { calls: [{ name: 'vertex_ai_search', args: { request: 'what' } }] },
      'inner',
      'done',
    ])
    await runner.complete(ask)
    expect(serverToolsOf(model, 1)).toEqual([{ retrieval: { vertexAiSearch: { datastore: dataStoreId } } }])
  })
})

test.each([
  ['without a target', {}, 'got neither'],
  ['with two targets', { dataStoreId, searchEngineId: dataStoreId.replace('dataStores', 'engines') }, 'got both'],
  ['with a short name', { dataStoreId: 'docs' }, 'full resource name'],
  ['with a path traversal', { dataStoreId: `${dataStoreId}/../../x` }, 'full resource name'],
])('the runner rejects vertexAiSearch and discoveryEngineSearch %s', (_, target, problem) => {
  expect(() => vertexAiSearch(target)).toThrow(problem)
  expect(() => discoveryEngineSearch(target)).toThrow(problem)
})
