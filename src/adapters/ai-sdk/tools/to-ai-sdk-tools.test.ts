// Toolwright tools, called by functions of the AI SDK.
import { asSchema, executeTool, type Tool as TheirTool } from '@ai-sdk/provider-utils'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ToolError } from '../../../core/error/error.ts'
import { agentTool } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { withParts } from '../../../engine/context/result-parts.ts'
import { cached } from '../../../engine/policy/cached.ts'
import { timeout } from '../../../engine/policy/timeout.ts'
import { tool } from '../../../engine/tool/define-tool.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { InMemoryMemoryService } from '../../../services/memory/in-memory.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { loadMemory } from '../../tools/load-memory.ts'
import { preloadMemory } from '../../tools/preload-memory.ts'
import { type ToAiSdkToolsOptions, type ToolForAiSdk, toAiSdkTools } from './to-ai-sdk-tools.ts'

const ada = { userId: 'ada' }

function only(given: Tool, options: ToAiSdkToolsOptions = ada): ToolForAiSdk {
  const made = toAiSdkTools([given], options)[given.name]
  if (!made) throw new Error('It was not made.')
  return made
}

/** Runs a call as `generateText` does. */
async function execute(made: TheirTool, input: unknown, abortSignal?: AbortSignal): Promise<unknown> {
  const options = { toolCallId: 'call_1', messages: [], context: {}, ...(abortSignal && { abortSignal }) }
  let final: unknown
  for await (const part of executeTool({ tool: made as never, input: input as never, options: options as never }))
    final = part.output
  return final
}

const weather = tool({
  name: 'get_weather',
  description: 'The weather',
  parameters: z.object({ city: z.string(), day: z.string().transform((day) => `${day}!`) }),
  run: ({ city, day }, context) => ({ city, day, call: context.functionCallId, user: context.invocation.userId }),
})

test('toAiSdkTools() describes and validates a tool as the AI SDK expects', async () => {
  const made = only(weather)
  const schema = asSchema<unknown>(made.inputSchema)
  expect(made.description).toBe('The weather')
  expect(await schema.jsonSchema).toMatchObject({ type: 'object', required: ['city', 'day'] })
  expect(await schema.validate?.({ city: 'Oslo' })).toMatchObject({
    success: false,
    error: { message: 'day: expected string' },
  })
  expect(await schema.validate?.({ city: 'Oslo', day: 'now' })).toEqual({
    success: true,
    value: { city: 'Oslo', day: 'now' },
  })
  const standard = made.inputSchema['~standard']
  expect(await standard.validate({ city: 5 })).toMatchObject({ issues: [{ message: expect.stringContaining('city') }] })
  expect(await standard.validate({ city: 'Oslo', day: 'now' })).toEqual({ value: { city: 'Oslo', day: 'now' } })
})

test('toAiSdkTools() runs a call once, for its user and with its id', async () => {
  expect(await execute(only(weather), { city: 'Oslo', day: 'now' })).toEqual({
    city: 'Oslo',
    day: 'now!',
    call: 'call_1',
    user: 'ada',
  })
})

test('toAiSdkTools() validates arguments that the AI SDK did not validate', async () => {
  await expect(only(weather).execute({ city: 5 })).rejects.toMatchObject({ code: 'INVALID_ARGS' })
  await expect(only(weather).execute('Oslo')).rejects.toMatchObject({ code: 'INVALID_ARGS' })
})

test('toAiSdkTools() throws the error of the body', async () => {
  const fails = tool({
    name: 'fails',
    description: 'Fails',
    run: () => {
      throw new ToolError('Which order?', { code: 'NOT_FOUND' })
    },
  })
  await expect(execute(only(fails), {})).rejects.toMatchObject({ message: 'Which order?', code: 'NOT_FOUND' })
})

test('toAiSdkTools() applies the policies of a tool', async () => {
  const slow = timeout(tool({ name: 'slow', description: 'Slow', run: () => new Promise(() => {}) }), 5)
  await expect(execute(only(slow), {})).rejects.toMatchObject({ code: 'TIMEOUT' })
  let runs = 0
  const counted = tool({ name: 'counted', description: 'Counts', effect: 'none', run: () => ({ runs: ++runs }) })
  const kept = only(cached(counted, { scope: 'user' }))
  expect([await execute(kept, {}), await execute(kept, {})]).toEqual([{ runs: 1 }, { runs: 1 }])
})

describe('cached() in toAiSdkTools()', () => {
  /** A cached tool that returns how often its body has run. */
  function counting(): Tool {
    let runs = 0
    return cached(tool({ name: 'counted', description: 'Counts', effect: 'none', run: () => ({ runs: ++runs }) }))
  }

  test('answers later calls of the same tools from memory, each in a session of its own', async () => {
    const made = only(counting())
    expect([await execute(made, {}), await execute(made, {})]).toEqual([{ runs: 1 }, { runs: 1 }])
  })

  test('shares nothing between users, or between two sets of tools', async () => {
    const one = counting()
    const results = [only(one), only(one, { userId: 'bob' }), only(one)].map((made) => execute(made, {}))
    expect(await Promise.all(results)).toEqual([{ runs: 1 }, { runs: 2 }, { runs: 3 }])
  })

  test('answers calls of one session from memory, also with tools made again, and never those of another user', async () => {
    const one = counting()
    const sessionService = new InMemorySessionService()
    const inSession = (userId: string): ToolForAiSdk => only(one, { userId, sessionId: 's1', sessionService })
    const results = [await execute(inSession('ada'), {}), await execute(inSession('ada'), {})]
    expect([...results, await execute(inSession('bob'), {})]).toEqual([{ runs: 1 }, { runs: 1 }, { runs: 2 }])
  })
})

test('toAiSdkTools() passes an abort on to the body', async () => {
  const controller = new AbortController()
  const reason = new Error('Enough.')
  const reached: unknown[] = []
  const waits = tool({
    name: 'waits',
    description: 'Waits',
    run: (_, { signal }) => {
      signal.addEventListener('abort', () => reached.push('aborted'))
      controller.abort(reason)
      return new Promise(() => {})
    },
  })
  await expect(execute(only(waits), {}, controller.signal)).rejects.toBe(reason)
  expect(reached).toEqual(['aborted'])
})

describe('the session of a call of toAiSdkTools()', () => {
  const counter = tool({
    name: 'count',
    description: 'Counts',
    run: (_, { state }) => {
      state.set('n', state.get('n', 0) + 1)
      return { n: state.get('n', 0) }
    },
  })

  test('is shared by calls with a sessionId, which run one at a time', async () => {
    const made = only(counter, { ...ada, sessionId: 's1' })
    const results = await Promise.all([execute(made, {}), execute(made, {}), execute(made, {})])
    expect(results).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('is new for each call without a sessionId', async () => {
    const made = only(counter)
    expect(await Promise.all([execute(made, {}), execute(made, {})])).toEqual([{ n: 1 }, { n: 1 }])
  })

  test('is stored in the given session service', async () => {
    const sessionService = new InMemorySessionService()
    await execute(only(counter, { ...ada, sessionService, appName: 'shop' }), {})
    const [session] = await sessionService.listSessions({ appName: 'shop', userId: 'ada' })
    const key = { appName: 'shop', userId: 'ada', sessionId: session?.id ?? '' }
    const log = (await sessionService.getSession(key))?.events.flatMap(({ content }) => content?.parts ?? [])
    expect(log).toMatchObject([
      { text: 'Call count.' },
      { functionCall: { id: 'call_1', name: 'count' } },
      { functionResponse: { id: 'call_1', response: { n: 1 } } },
    ])
  })

  test('has the given services', async () => {
    const memoryService = new InMemoryMemoryService()
    expect(await execute(only(loadMemory(), { ...ada, memoryService }), { query: 'tea' })).toEqual({ memories: [] })
  })
})

describe('a tool of toAiSdkTools() that needs confirmation', () => {
  let paid = 0
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    parameters: z.object({ n: z.number() }),
    requiresConfirmation: ({ n }, { state }) => n > state.get('limit', 10),
    run: ({ n }) => {
      paid += n
      return { paid: n }
    },
  })
  const always = { ...pay, requiresConfirmation: true }
  const asked = (input: object, approved: unknown, more: object = {}) => [
    { role: 'user', content: 'pay' },
    {
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId: 'call_1', toolName: 'pay', input },
        { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'call_1' },
      ],
    },
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a1', approved, ...more }] },
  ]
  const call = async (messages: readonly unknown[], options: Partial<ToAiSdkToolsOptions> = {}) => {
    paid = 0
    const { needsApproval, execute } = only(always, { ...ada, ...options })
    const asked = messages.slice(0, 1) // the AI SDK asks before it adds the call to the messages
    if (typeof needsApproval === 'function') await needsApproval({ n: 50 }, { toolCallId: 'call_1', messages: asked })
    return await execute({ n: 50 }, { toolCallId: 'call_1', messages })
  }
  const accept = () => ({
    acceptAiSdkApproval: true,
    sessionId: 's1',
    sessionService: new InMemorySessionService(),
  })

  test('sets needsApproval', async () => {
    expect(only(always).needsApproval).toBe(true)
    expect(only(weather).needsApproval).toBeUndefined()
    const asks = only(pay).needsApproval as (input: unknown) => Promise<boolean>
    expect([await asks({ n: 50 }), await asks({ n: 5 })]).toEqual([true, false])
    const throws = only({ ...pay, requiresConfirmation: () => Promise.reject(new Error('?')) }).needsApproval
    expect(await (throws as typeof asks)({ n: 5 })).toBe(true)
  })

  test('passes parsed arguments to requiresConfirmation', async () => {
    const send = tool({
      name: 'send',
      description: 'Sends',
      parameters: z.object({
        to: z
          .string()
          .default('all')
          .transform((to) => ({ name: to })),
      }),
      requiresConfirmation: ({ to }) => to.name === 'all',
      run: () => ({}),
    })
    const asks = only(send).needsApproval as (input: unknown) => Promise<boolean>
    expect([await asks({}), await asks({ to: 'ada' }), await asks({ to: 5 })]).toEqual([true, false, true])
  })

  test('passes the session to requiresConfirmation', async () => {
    const sessionService = new InMemorySessionService()
    await sessionService.createSession({ appName: 'ai-sdk', userId: 'ada', sessionId: 's1', state: { limit: 100 } })
    const asks = only(pay, { ...ada, sessionService, sessionId: 's1' }).needsApproval as (
      i: unknown,
    ) => Promise<boolean>
    expect([await asks({ n: 50 }), await asks({ n: 500 })]).toEqual([false, true])
  })

  test('does not run because of an approval in the messages', async () => {
    await expect(call(asked({ n: 50 }, true))).rejects.toMatchObject({ code: 'CANCELLED' })
    await expect(only(pay).execute({ n: 50 })).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(paid).toBe(0)
    expect(await only(pay).execute({ n: 5 })).toEqual({ paid: 5 })
  })

  test('runs after an approval in the messages with acceptAiSdkApproval', async () => {
    expect(await call(asked({ n: 50 }, true), accept())).toEqual({ paid: 50 })
    expect(paid).toBe(50)
  })

  test.each([
    ['a denial', asked({ n: 50 }, false)],
    ['anything but true', asked({ n: 50 }, 'true')],
    ['other arguments', asked({ n: 5 }, true)],
    ['no answer', asked({ n: 50 }, true).slice(0, 2)],
    ['no approval request', asked({ n: 50 }, true).slice(2)],
    ['an answer to another request', asked({ n: 50 }, true, { approvalId: 'a2' })],
    ['an answer of the model', asked({ n: 50 }, true).map((message) => ({ ...message, role: 'assistant' }))],
    ['an approval and a denial', [...asked({ n: 50 }, true), ...asked({ n: 50 }, false).slice(2)]],
    ['no messages', []],
  ])('does not run with acceptAiSdkApproval after %s', async (_, messages) => {
    await expect(call(messages, accept())).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(paid).toBe(0)
  })
})

test('toAiSdkTools() shows the model the media of a result', async () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'AQID', displayName: 'a.png' } }
  const draw = tool({ name: 'draw', description: 'Draws', run: () => withParts({ status: 'drawn' }, [picture]) })
  const made = only(draw)
  const output = await execute(made, {})
  expect(output).toEqual({ status: 'drawn' })
  const expected = {
    type: 'content',
    value: [
      { type: 'text', text: '{"status":"drawn"}' },
      { type: 'file-data', data: 'AQID', mediaType: 'image/png', filename: 'a.png' },
    ],
  }
  expect(made.toModelOutput({ toolCallId: 'c', input: {}, output })).toEqual(expected)
  expect(made.toModelOutput(output)).toEqual(expected)
  expect(made.toModelOutput({ toolCallId: 'c', input: {}, output: { n: 1 } })).toEqual({
    type: 'json',
    value: { n: 1 },
  })
})

test('toAiSdkTools() shows the model the result of toModelOutput', async () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'AQID' } }
  const run = () => withParts({ rows: [1, 2, 3] }, [picture])
  const made = only(tool({ name: 'list', description: 'Lists', run, toModelOutput: () => ({ rows: 3 }) }))
  const output = await execute(made, {})
  expect(output).toEqual({ rows: [1, 2, 3] })
  const shown = { type: 'json', value: { rows: 3 } }
  expect(made.toModelOutput({ toolCallId: 'c', input: {}, output })).toEqual(shown)
})

test('toAiSdkTools() runs an agent tool that has a model', async () => {
  const inner = { name: 'poet', description: 'Writes', model: scriptedModel(['Snow.']) }
  expect(await execute(only(agentTool(new LlmAgent(inner))), { request: 'a poem' })).toEqual({ text: 'Snow.' })
  const { model: _, ...bare } = inner
  const logger = { warn: () => {}, error: () => {} }
  const unable = only(agentTool(new LlmAgent(bare)), { ...ada, logger })
  await expect(execute(unable, { request: 'a poem' })).rejects.toThrow('has no model')
})

test('toAiSdkTools() rejects tools that the AI SDK cannot call', () => {
  expect(() => toAiSdkTools([preloadMemory()], ada)).toThrow('only adds to model requests')
  expect(() => toAiSdkTools([weather, weather], ada)).toThrow('"get_weather" is defined twice')
  expect(() => toAiSdkTools([{ ...weather, name: 'two words' }], ada)).toThrow('a name starts with')
})
