// Structured output with providers that support schemas differently.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ProviderServer, type Reply } from '../../../../test/providers/provider-server.ts'
import type { Schema } from '../../../core/schema/schema-types.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { fromAiSdk } from '../from-ai-sdk.ts'
import { type ProviderCase, providers } from '../providers.test-kit.ts'
import { closeObjects, isStrict } from './strict-schema.ts'

const quiet = { warn: () => {}, error: () => {} }
const named = (name: string): ProviderCase => {
  const found = providers.find((one) => one.name === name)
  if (!found) throw new Error(`no ${name}`)
  return found
}
const answerCall = (args: object) => ({ calls: [{ id: 'c1', name: 'set_model_response', args: { ...args } }] })

async function answer(provider: ProviderCase, replies: readonly Reply[], outputSchema: Schema, streaming = false) {
  await using server = await ProviderServer.start(replies)
  const model = fromAiSdk(provider.model(server.url), { maxRetries: 0 })
  const agent = new LlmAgent({ name: 'agent', model, outputSchema })
  const runner = new Runner({ appName: 'app', agent, logger: quiet })
  const { text, error } = await runner.complete({ userId: 'ada', message: '?', runConfig: { streaming } })
  return { text, error, bodies: server.requests.map(({ body }) => body) }
}

test.each(['groq', 'openai-compatible', 'openai chat', 'openai responses'])(
  'fromAiSdk() with %s does not set strict for optional properties',
  async (name) => {
    const provider = named(name)
    const schema = z.object({ city: z.string(), note: z.string().optional() })
    const { error, bodies } = await answer(provider, [provider.say({ text: '{"city":"Oslo"}' })], schema)
    expect(error).toBeUndefined()
    expect(JSON.stringify(bodies[0])).toContain('"strict":false')
  },
)

const city = z.object({ city: z.string() })
const refuse = (message: string, status = 400): Reply => ({ status, json: { error: { message } } })

describe.each([false, true])('fromAiSdk(), streamed: %s,', (streaming) => {
  test('uses the answer tool when the provider rejects the response format', async () => {
    const groq = named('groq')
    const refusal = refuse('This model does not support response format `json_schema`.')
    const { text, bodies } = await answer(groq, [refusal, groq.say(answerCall({ city: 'Oslo' }))], city, streaming)
    expect(text).toBe('{"city":"Oslo"}')
    expect(bodies[1]).toMatchObject({
      tools: [{ function: { name: 'set_model_response' } }],
      tool_choice: { function: { name: 'set_model_response' } },
    })
    expect(bodies[1]).not.toHaveProperty('response_format')
  })

  test('wraps an answer that is not an object', async () => {
    const provider = named('openai-compatible without schemas')
    const replies = [provider.say({ text: '[]' }), provider.say(answerCall({ result: ['Oslo'] }))]
    const { text } = await answer(provider, replies, z.array(z.string()), streaming)
    expect(JSON.parse(text)).toEqual(['Oslo'])
  })

  test('lets the model correct an invalid answer', async () => {
    const provider = named('openai-compatible without schemas')
    const replies = [{}, { city: 7 }, { city: 'Oslo' }].map((args) => provider.say(answerCall(args)))
    const { text, bodies } = await answer(provider, replies, city, streaming)
    expect([text, bodies.length]).toEqual(['{"city":"Oslo"}', 3])
  })
})

test('fromAiSdk() does not use the answer tool after another rejection of the provider', async () => {
  const groq = named('groq')
  const { error, bodies } = await answer(groq, [refuse('The prompt is too long.')], city)
  expect(error?.message).toContain('The prompt is too long.')
  expect(bodies).toHaveLength(1)
})

test('closeObjects() sets additionalProperties: false, except on objects that several schemas describe together', () => {
  const open = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const closed = { ...open, additionalProperties: false }
  expect(closeObjects({ anyOf: [open, { type: 'null' }] })).toEqual({ anyOf: [closed, { type: 'null' }] })
  expect(closeObjects({ $defs: { a: open }, $ref: '#/$defs/a' })).toEqual({ $defs: { a: closed }, $ref: '#/$defs/a' })
  for (const spread of [
    { allOf: [open, open] },
    { ...open, anyOf: [open] },
    { type: 'array', items: { allOf: [open] } },
  ]) {
    expect(closeObjects(spread)).toEqual(spread)
    expect(isStrict(closeObjects(spread))).toBe(false)
  }
})
