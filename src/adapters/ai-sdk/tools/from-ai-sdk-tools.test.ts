// Tools created with functions of the AI SDK, called by an agent.
import { anthropic } from '@ai-sdk/anthropic'
import { openai } from '@ai-sdk/openai'
import { dynamicTool, jsonSchema, lazySchema, tool } from '@ai-sdk/provider-utils'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../../core/base/json.ts'
import type { ModelOutput } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts'
import { type AiSdkTool, type FromAiSdkToolsOptions, fromAiSdkTools } from './from-ai-sdk-tools.ts'

interface CallResult {
  readonly events: readonly Event[]
  readonly model: ScriptedModel
  readonly response: JsonObject | undefined
  readonly modelOutput: ModelOutput | undefined
}

/** The result of a call that a model makes to the only tool. */
async function call(given: AiSdkTool, args: JsonObject = {}, options: FromAiSdkToolsOptions = {}): Promise<CallResult> {
  const model = scriptedModel([{ calls: [{ name: 'it', args, id: 'c1' }] }, 'done'])
  const agent = new LlmAgent({ name: 'agent', model, tools: fromAiSdkTools({ it: given }, options) })
  const runner = new Runner({ appName: 'app', agent })
  const events: Event[] = []
  for await (const event of runner.run({ userId: 'ada', message: 'go' })) events.push(event)
  const responses = events.filter(({ partial }) => !partial).flatMap(({ content }) => content?.parts ?? [])
  const { response, modelOutput } = responses.find((part) => part.functionResponse)?.functionResponse ?? {}
  return { events, model, response, modelOutput }
}

const city = z.object({ city: z.string(), days: z.number().default(1) })

test('fromAiSdkTools() declares and runs a tool as its author wrote it', async () => {
  const seen: unknown[] = []
  const given = tool({
    description: 'The weather',
    inputSchema: city,
    execute: async (input, { toolCallId, messages, abortSignal }) => {
      seen.push(input, toolCallId, messages, abortSignal instanceof AbortSignal)
      return { ...input, temperature: 2 }
    },
  })
  const { response, model } = await call(given, { city: 'Oslo' })
  expect(response).toEqual({ city: 'Oslo', days: 1, temperature: 2 })
  expect(seen).toEqual([{ city: 'Oslo', days: 1 }, 'c1', [], true])
  expect(model.requests[0]?.config.tools).toMatchObject([
    {
      functionDeclarations: [{ name: 'it', description: 'The weather', parametersJsonSchema: { required: ['city'] } }],
    },
  ])
})

describe('fromAiSdkTools() validates arguments before the tool runs', () => {
  const never = (): never => {
    throw new Error('It was run.')
  }
  const properties = { city: { type: 'string' as const } }
  const json = { type: 'object' as const, properties, required: ['city'] }
  const strict = (value: unknown) =>
    (value as JsonObject).city === 'Oslo'
      ? { success: true as const, value: { city: 'OSLO' } }
      : { success: false as const, error: new Error('Only Oslo.') }
  const withZod = (value: unknown) => {
    const parsed = city.safeParse(value)
    return parsed.success ? { success: true as const, value: parsed.data } : parsed
  }

  test.each([
    ['a Standard Schema', city, 'city: expected string'],
    ['JSON Schema', jsonSchema(json), 'city: expected string'],
    ['JSON Schema with validate', jsonSchema(json, { validate: strict }), 'expected what its schema accepts'],
    ['validate with Zod issues', jsonSchema(json, { validate: withZod }), 'city: expected Invalid input'],
    ['a lazy schema', lazySchema(() => jsonSchema(json)), 'city: expected string'],
  ])('with %s', async (_, inputSchema, problem) => {
    const { response } = await call({ inputSchema, execute: never }, { city: 5 })
    expect(response).toMatchObject({ errorCode: 'INVALID_ARGS', error: expect.stringContaining(problem) })
    const { response: fine } = await call({ inputSchema, execute: (input: unknown) => input }, { city: 'Oslo' })
    expect(fine?.city).toMatch(/^oslo$/i)
  })

  test('and passes the transformed arguments to the body', async () => {
    const given = { inputSchema: jsonSchema(json, { validate: strict }), execute: (input: unknown) => input }
    expect((await call(given, { city: 'Oslo' })).response).toEqual({ city: 'OSLO' })
  })

  test('but accepts a tool without an inputSchema', async () => {
    expect((await call({ execute: (input: unknown) => input })).response).toEqual({})
  })
})

describe('fromAiSdkTools() decides by needsApproval whether a call needs a confirmation:', () => {
  const body = { inputSchema: z.object({ n: z.number() }), execute: ({ n }: { n: number }) => ({ paid: n }) }
  const asked = undefined

  test.each([
    ['true', true, asked],
    ['false', false, { paid: 5 }],
    ['undefined', undefined, { paid: 5 }],
    ['a function that returns true', async ({ n }: { n: number }) => n === 5, asked],
    ['a function that returns false', ({ n }: { n: number }) => n > 100, { paid: 5 }],
    ['a function that throws', () => Promise.reject(new Error('?')), asked],
    ['a function that returns undefined', () => undefined, asked],
  ])('for %s', async (_, needsApproval, expected) => {
    const { response, events } = await call({ ...body, needsApproval }, { n: 5 })
    if (expected) expect(response).toMatchObject(expected)
    else {
      expect(response).toBeUndefined()
      expect(events.at(-1)?.actions.requestedToolConfirmations).toBeDefined()
    }
  })

  test('but rejects a needsApproval of another type', () => {
    expect(() => fromAiSdkTools({ it: { ...body, needsApproval: 'yes' } })).toThrow('needsApproval must be a boolean')
  })
})

test('fromAiSdkTools() reports each value that execute yields as progress and returns the last value as the result', async () => {
  const given = tool({
    inputSchema: z.object({}),
    execute: async function* () {
      yield { done: 1 }
      yield { done: 2 }
    },
  })
  const { events, response } = await call(given)
  const progress = events.filter(({ partial }) => partial).map(({ content }) => content?.parts[0]?.functionResponse)
  expect(progress.map((one) => one?.response)).toEqual([{ progress: { done: 1 } }, { progress: { done: 2 } }])
  expect(response).toEqual({ done: 2 })
})

test('fromAiSdkTools() reports a thrown error to the model', async () => {
  const { response } = await call({ execute: () => Promise.reject(new Error('No network.')) })
  expect(response).toEqual({ error: 'No network.', errorCode: 'EXECUTION_FAILED' })
})

test('fromAiSdkTools() aborts the body when the run is cancelled', async () => {
  const controller = new AbortController()
  const aborted = new Promise<void>((resolve) => {
    const execute = (_: unknown, { abortSignal }: { abortSignal: AbortSignal }): Promise<never> => {
      abortSignal.addEventListener('abort', () => resolve())
      controller.abort()
      return new Promise(() => {})
    }
    const model = scriptedModel([{ calls: [{ name: 'it' }] }])
    const agent = new LlmAgent({ name: 'agent', model, tools: fromAiSdkTools({ it: { execute } }) })
    void new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'go', signal: controller.signal })
  })
  await aborted
})

test.each([
  ['text', { type: 'text', value: 'Cold.' }, { result: 'Cold.' }],
  ['JSON', { type: 'json', value: { cold: true } }, { cold: true }],
  ['an error', { type: 'error-text', value: 'Too cold.' }, { error: 'Too cold.' }],
  ['a denial', { type: 'execution-denied', reason: 'No.' }, { error: 'No.', errorCode: 'CANCELLED' }],
])('fromAiSdkTools() shows the model the result of toModelOutput: %s', async (_, output, expected) => {
  const given = { execute: () => ({ raw: 1 }), toModelOutput: ({ output: raw }: JsonObject) => raw && output }
  const { response, modelOutput } = await call(given)
  expect(response).toEqual({ raw: 1 })
  expect(modelOutput?.response).toEqual(expected)
})

test.each([
  ['AI SDK 7', { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' }],
  [
    'AI SDK 7, bytes',
    { type: 'file', data: { type: 'data', data: new Uint8Array([1, 2, 3]) }, mediaType: 'image/png' },
  ],
  ['AI SDK 6', { type: 'image-data', data: 'AQID', mediaType: 'image/png' }],
  ['AI SDK 5', { type: 'media', data: 'AQID', mediaType: 'image/png' }],
])('fromAiSdkTools() converts media in a result to parts: %s', async (_, file) => {
  const toModelOutput = () => ({ type: 'content', value: [{ type: 'text', text: 'Drawn.' }, file] })
  const { response, modelOutput, events } = await call({ execute: () => 1, toModelOutput })
  expect(response).toEqual({ result: 1 })
  expect(modelOutput).toEqual({ response: { result: 'Drawn.' }, showsMedia: true })
  const parts = events.flatMap(({ content }) => (content?.role === 'tool' ? content.parts : []))
  expect(parts[1]).toEqual({ inlineData: { mimeType: 'image/png', data: 'AQID' } })
})

test('fromAiSdkTools() validates the result with the outputSchema', async () => {
  const given = { outputSchema: z.object({ temperature: z.number() }), execute: () => ({ temperature: 'cold' }) }
  expect((await call(given)).response).toMatchObject({ errorCode: 'INVALID_RESULT' })
  expect((await call({ ...given, execute: () => ({ temperature: 2 }) })).response).toEqual({ temperature: 2 })
})

test('fromAiSdkTools() passes toolsContext to a tool with a contextSchema, and throws if it is missing', async () => {
  const given = {
    contextSchema: z.object({ key: z.string() }),
    description: ({ context }: { context: { key: string } }) => `Uses ${context.key}`,
    execute: (_: unknown, { context, experimental_context: older }: JsonObject) => ({ context, older }),
  }
  const { response, model } = await call(given, {}, { toolsContext: { it: { key: 'k' } } })
  expect(response).toEqual({ context: { key: 'k' }, older: { key: 'k' } })
  expect(JSON.stringify(model.requests[0]?.config.tools)).toContain('Uses k')
  expect(() => fromAiSdkTools({ it: given })).toThrow('Pass { toolsContext: { it: ... } }')
})

test('fromAiSdkTools() rejects a tool without execute, or makes it long-running', async () => {
  const given = tool({ inputSchema: z.object({}), outputSchema: z.object({}) })
  expect(() => fromAiSdkTools({ it: given })).toThrow("pass { withoutExecute: 'longRunning' }")
  const { events } = await call(given, {}, { withoutExecute: 'longRunning' })
  expect(events.at(-2)).toMatchObject({ longRunningToolIds: ['c1'] })
})

test('fromAiSdkTools() converts dynamic tools', async () => {
  const given = dynamicTool({ inputSchema: city, execute: async (input) => input })
  expect((await call(given, { city: 'Oslo' })).response).toEqual({ city: 'Oslo', days: 1 })
})

describe('tools of a provider in fromAiSdkTools()', () => {
  test('that the provider runs are only declared', () => {
    const [made] = fromAiSdkTools({ search: openai.tools.webSearch({}) })
    expect(made).toMatchObject({ name: 'search' })
    expect(made?.declaration()).toBeUndefined()
  })

  test('that the provider only defines are declared as its own and run by execute', async () => {
    const given = anthropic.tools.bash_20250124({ execute: async ({ command }) => `ran ${command}` })
    const { response, model } = await call(given, { command: 'ls' })
    expect(response).toEqual({ result: 'ran ls' })
    expect(model.requests[0]?.config.tools).toMatchObject([
      { functionDeclarations: [{ name: 'it' }] },
      { providerTool: { id: 'anthropic.bash_20250124', name: 'it' } },
    ])
  })

  test('are bound to their id and configuration by an approval', () => {
    const given = anthropic.tools.bash_20250124({ execute: async () => 'ran' })
    const [made] = fromAiSdkTools({ it: given })
    expect(made?.sendsTo).toEqual({ id: 'anthropic.bash_20250124', name: 'it', args: {} })
    expect(
      fromAiSdkTools({ it: dynamicTool({ inputSchema: city, execute: async () => 1 }) })[0]?.sendsTo,
    ).toBeUndefined()
  })

  test('that the provider only defines are rejected without execute', () => {
    expect(() => fromAiSdkTools({ it: anthropic.tools.memory_20250818({}) })).toThrow(
      'has no execute, and the provider does not run it',
    )
  })
})

const execute = (): number => 1

test.each([
  ['a name that no model can call', { 'two words': { execute } }, 'a name starts with'],
  ['a tool of AI SDK 4', { it: { parameters: city, execute } }, 'Rename `parameters` to `inputSchema`'],
  ['a value that is not a tool', { it: 5 }, 'got 5 instead of a tool of the AI SDK'],
  ['a JSON Schema that is a promise', { it: { inputSchema: jsonSchema(Promise.resolve({})), execute } }, 'Await it'],
  ['a value that is not a schema', { it: { inputSchema: 'city', execute } }, 'a schema must be a Standard Schema'],
])('fromAiSdkTools() rejects %s', (_, tools, message) => {
  expect(() => fromAiSdkTools(tools as never)).toThrow(message)
})
