// Structured answers from providers that differ in what they take.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { Runner } from '../runner/runner.ts'
import type { Schema } from '../schema/infer.ts'
import { ProviderServer, type Reply } from '../testing/server/providers.ts'
import { closeObjects, isStrict } from './closed-schema.ts'
import { fromAiSdk } from './from-model.ts'
import { type Provider, providers } from './providers.test-kit.ts'

const quiet = { warn: () => {}, error: () => {} }
const named = (name: string): Provider => {
  const found = providers.find((one) => one.name === name)
  if (!found) throw new Error(`no ${name}`)
  return found
}
const answerCall = (args: object) => ({ calls: [{ id: 'c1', name: 'set_model_response', args: { ...args } }] })

async function answer(provider: Provider, replies: readonly Reply[], outputSchema: Schema, streaming = false) {
  await using server = await ProviderServer.start(replies)
  const model = fromAiSdk(provider.model(server.url), { maxRetries: 0 })
  const agent = new LlmAgent({ name: 'agent', model, outputSchema })
  const runner = new Runner({ appName: 'app', agent, logger: quiet })
  const { text, error } = await runner.complete({ userId: 'ada', message: '?', runConfig: { streaming } })
  return { text, error, bodies: server.requests.map(({ body }) => body) }
}

test.each(['groq', 'openai-compatible', 'openai chat', 'openai responses'])(
  '%s is not told to be strict about optional properties',
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

describe.each([false, true])('streamed: %s', (streaming) => {
  test('a provider that refuses the response format is asked with a tool', async () => {
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

  test('an answer that is no object is given inside one', async () => {
    const provider = named('openai-compatible without schemas')
    const replies = [provider.say({ text: '[]' }), provider.say(answerCall({ result: ['Oslo'] }))]
    const { text } = await answer(provider, replies, z.array(z.string()), streaming)
    expect(JSON.parse(text)).toEqual(['Oslo'])
  })

  test('an answer the tool gave wrong is corrected', async () => {
    const provider = named('openai-compatible without schemas')
    const replies = [{}, { city: 7 }, { city: 'Oslo' }].map((args) => provider.say(answerCall(args)))
    const { text, bodies } = await answer(provider, replies, city, streaming)
    expect([text, bodies.length]).toEqual(['{"city":"Oslo"}', 3])
  })
})

test('another refusal is not taken for one of the schema', async () => {
  const groq = named('groq')
  const { error, bodies } = await answer(groq, [refuse('The prompt is too long.')], city)
  expect(error?.message).toContain('The prompt is too long.')
  expect(bodies).toHaveLength(1)
})

test('objects are closed, but not those whose shape is spread over several schemas', () => {
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
