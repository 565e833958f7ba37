// The settings of an agent in the requests of each provider.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ProviderServer } from '../../../../test/providers/provider-server.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import type { LlmRequestConfig } from '../../../engine/model/llm-request-config.ts'
import { type FromAiSdkOptions, fromAiSdk } from '../from-ai-sdk.ts'
import { ask, at, chat, claude, gemini, type ProviderFormat, request, responses, user } from '../providers.test-kit.ts'

async function sent(
  format: ProviderFormat,
  config: LlmRequestConfig,
  options: FromAiSdkOptions = {},
): Promise<{ body: JsonObject; headers: JsonObject }> {
  await using server = await ProviderServer.start([format.say({ text: '{}' })])
  await ask(fromAiSdk(format.model(server.url), options), request([user('?')], config))
  const { body = {}, headers = {} } = server.requests[0] ?? {}
  return { body, headers }
}

const declare = (name: string, parametersJsonSchema?: JsonObject) => ({
  name,
  description: `Does ${name}`,
  ...(parametersJsonSchema && { parametersJsonSchema }),
})
const tools = [{ functionDeclarations: [declare('add'), declare('sub'), declare('mul')] }]

test('fromAiSdk() sends settings under the names of each provider', async () => {
  const config = {
    temperature: 0.5,
    topP: 0.9,
    maxOutputTokens: 100,
    stopSequences: ['END'],
    seed: 7,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    safetySettings: [{ category: 'x' }],
  }
  expect((await sent(chat, config)).body).toMatchObject({
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 100,
    stop: ['END'],
    seed: 7,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
  })
  expect((await sent(gemini, { ...config, topK: 3 })).body.generationConfig).toMatchObject({
    temperature: 0.5,
    topK: 3,
    maxOutputTokens: 100,
    stopSequences: ['END'],
    seed: 7,
  })
  expect((await sent(claude, { topK: 3, maxOutputTokens: 50 })).body).toMatchObject({ top_k: 3, max_tokens: 50 })
  expect((await sent(responses, { reasoning: 'low' })).body).toMatchObject({ reasoning: { effort: 'low' } })
})

test.each([
  ['temperature', { temperature: 'hot' }, 'temperature must be a number'],
  ['stopSequences', { stopSequences: 'END' }, 'stopSequences must be a list of strings'],
  [
    'providerOptions',
    { providerOptions: { openai: 1 } },
    'providerOptions must be an object with one object per provider',
  ],
  ['headers', { headers: { a: 1 } }, 'headers must be an object with string values'],
])('fromAiSdk() rejects a setting of the wrong type: %s', async (_, config, words) => {
  await expect(sent(chat, config)).rejects.toThrow(words)
})

test('fromAiSdk() sends its providerOptions and headers, which the request can override', async () => {
  const { body, headers } = await sent(
    responses,
    { providerOptions: { openai: { serviceTier: 'flex' } }, headers: { 'x-b': 'request' } },
    { providerOptions: { openai: { serviceTier: 'auto', user: 'ada' } }, headers: { 'x-a': 'model', 'x-b': 'model' } },
  )
  expect(body).toMatchObject({ service_tier: 'flex', user: 'ada' })
  expect(headers).toMatchObject({ 'x-a': 'model', 'x-b': 'request' })
})

const calling = (functionCallingConfig: JsonObject): LlmRequestConfig => ({
  tools,
  toolConfig: { functionCallingConfig },
})

test.each([
  [{ mode: 'AUTO' }, 'auto', ['add', 'sub', 'mul']],
  [{ mode: 'NONE' }, 'none', ['add', 'sub', 'mul']],
  [{ mode: 'ANY' }, 'required', ['add', 'sub', 'mul']],
  [{ mode: 'ANY', allowedFunctionNames: ['add', 'mul'] }, 'required', ['add', 'mul']],
  [{ mode: 'ANY', allowedFunctionNames: ['mul'] }, { type: 'function', function: { name: 'mul' } }, ['mul']],
])('fromAiSdk() converts the tool config %o', async (config, choice, names) => {
  const { body } = await sent(chat, calling(config))
  expect(body.tool_choice).toEqual(choice)
  expect((body.tools as unknown[]).map((tool) => at(tool, 'function', 'name'))).toEqual(names)
})

test('fromAiSdk() names a required tool by its provider name', async () => {
  const dotted = [{ functionDeclarations: [declare('math.add'), declare('math:add')] }]
  const functionCallingConfig = { mode: 'ANY', allowedFunctionNames: ['math:add'] }
  const { body } = await sent(chat, { tools: dotted, toolConfig: { functionCallingConfig } })
  expect(at(body, 'tools', 0, 'function', 'name')).toBe('math_add_2')
  expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'math_add_2' } })
})

test('fromAiSdk() rejects a server tool of Gemini', async () => {
  await expect(sent(chat, { tools: [{ googleSearch: {} }] })).rejects.toThrow(
    'gpt-4.1 (openai.chat) has no server tool "googleSearch". Use the tool of its provider instead: aiSdkProviderTool(',
  )
})

const jsonSchemaOf = (schema: z.ZodType): JsonObject => compileSchema(schema, 'It').jsonSchema
const answer = (schema: z.ZodType): LlmRequestConfig => ({
  responseJsonSchema: jsonSchemaOf(schema),
  responseMimeType: 'application/json',
})

test('fromAiSdk() sends a response schema to each provider', async () => {
  const config = answer(z.object({ city: z.string() }))
  const closed = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
  const openai = await sent(chat, config)
  expect(openai.body.response_format).toMatchObject({ json_schema: { strict: true, schema: closed } })
  const { body } = await sent(responses, config)
  expect(at(body, 'text', 'format')).toMatchObject({ type: 'json_schema', strict: true, schema: closed })
  expect(JSON.stringify((await sent(claude, config)).body)).toContain('"city"')
  expect((await sent(gemini, config)).body.generationConfig).toMatchObject({ responseMimeType: 'application/json' })
})

test('fromAiSdk() does not set strict for a schema that OpenAI would reject', async () => {
  const loose = answer(z.object({ city: z.string(), days: z.object({ n: z.number().optional() }).array() }))
  const { body } = await sent(chat, loose)
  expect(body.response_format).toMatchObject({ json_schema: { strict: false } })
  const kept = await sent(chat, { ...loose, providerOptions: { openai: { strictJsonSchema: true } } })
  expect(kept.body.response_format).toMatchObject({ json_schema: { strict: true } })
})

test('fromAiSdk() requests JSON without a schema', async () => {
  const { body } = await sent(chat, { responseMimeType: 'application/json' })
  expect(body.response_format).toEqual({ type: 'json_object' })
})
