// Limits against servers that send too much, too slowly or invalid data.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ProviderServer, type Reply } from '../../../../test/providers/provider-server.ts'
import type { Ports } from '../../../core/base/ports.ts'
import { textOf } from '../../../core/content/content.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { tool } from '../../../engine/tool/define-tool.ts'
import type { AiSdkModel, AiSdkPart } from '../ai-sdk-types.ts'
import { type FromAiSdkOptions, fromAiSdk } from '../from-ai-sdk.ts'
import { ask, at, chat, claude, request, user } from '../providers.test-kit.ts'

const quiet = { warn: () => {}, error: () => {} }
const chunk = (delta: object): object => ({ id: '1', created: 1, model: 'm', choices: [{ index: 0, delta }] })
const MEGABYTE = 'x'.repeat(1024 * 1024)

function* endless(event: object): Generator<object> {
  for (;;) yield event
}

test('fromAiSdk() throws for an endless text and closes the connection', { timeout: 30_000 }, async () => {
  await using server = await ProviderServer.start([{ events: endless(chunk({ content: MEGABYTE })) }])
  const model = fromAiSdk(chat.model(server.url), { maxRetries: 0 })
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }), logger: quiet })
  const { error } = await runner.complete({ userId: 'ada', message: '?', runConfig: { streaming: true } })
  expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringMatching(/more than \d+ bytes/) })
  await server.requests[0]?.closed
})

test.each([
  ['arguments', { type: 'tool-input-delta', id: 'c1', delta: MEGABYTE }],
  ['thoughts', { type: 'reasoning-delta', id: 'r1', delta: MEGABYTE }],
  ['files', { type: 'file', mediaType: 'image/png', data: MEGABYTE }],
  ['calls', { type: 'tool-call', toolCallId: 'c2', toolName: 'add', input: MEGABYTE }],
])('fromAiSdk() throws for endless %s', async (_, part) => {
  let isCancelled = false
  const stream = new ReadableStream<AiSdkPart>({
    start: (controller) => controller.enqueue({ type: 'tool-input-start', id: 'c1', toolName: 'add' } as AiSdkPart),
    pull: (controller) => controller.enqueue(part),
    cancel: () => {
      isCancelled = true
    },
  })
  const model: AiSdkModel = {
    specificationVersion: 'v3',
    provider: 'custom',
    modelId: 'm',
    doGenerate: () => Promise.reject(new Error('not asked')),
    doStream: async () => ({ stream }),
  }
  const asking = ask(fromAiSdk(model, { maxRetries: 0 }), request([user('?')]), { stream: true })
  await expect(asking).rejects.toThrow(/The reply of custom has more than \d+ bytes and was not used/)
  expect(isCancelled).toBe(true)
})

test('fromAiSdk() returns a large reply below the limit', async () => {
  const events = [chunk({ content: MEGABYTE }), chunk({ content: MEGABYTE }), endOf('stop')]
  await using server = await ProviderServer.start([{ events }])
  const { whole } = await ask(fromAiSdk(chat.model(server.url)), request([user('?')]), { stream: true })
  expect(textOf(whole.content)).toHaveLength(2 * MEGABYTE.length)
})

function endOf(finish_reason: string): object {
  return { id: '1', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason }] }
}

describe('timeoutMs of fromAiSdk()', () => {
  /** Timers that a test fires. */
  function timers(): { fire(): void; options: FromAiSdkOptions } {
    const waiting = new Set<() => void>()
    const setTimer: Ports['setTimer'] = (callback) => {
      waiting.add(callback)
      return () => waiting.delete(callback)
    }
    const fire = (): void => {
      for (const callback of [...waiting]) callback()
    }
    return { fire, options: { timeoutMs: 60_000, maxRetries: 0, ports: { setTimer } } }
  }

  const held = (events: readonly string[]): Reply => ({ events, ending: 'hold' })
  test.each([
    ['a line that never ends', true, held(['data: {"id":"', MEGABYTE, MEGABYTE])],
    ['a silent stream', true, held([])],
    ['a body that never ends', false, held([`{"id":"${MEGABYTE}`])],
  ])('ends %s and closes the connection', async (_, stream, reply) => {
    await using server = await ProviderServer.start([reply])
    const { fire, options } = timers()
    const asking = ask(fromAiSdk(chat.model(server.url), options), request([user('?')]), { stream })
    await server.waitForRequests(1)
    fire()
    await expect(asking).rejects.toThrow('openai.chat did not finish its reply within 60000 ms. Raise timeoutMs')
    await server.requests[0]?.closed
  })

  test('clears the timer after a reply', async () => {
    await using server = await ProviderServer.start([chat.say({ text: 'Here.' })])
    const set = new Set<unknown>()
    const setTimer: Ports['setTimer'] = (callback) => {
      set.add(callback)
      return () => set.delete(callback)
    }
    const model = fromAiSdk(chat.model(server.url), { timeoutMs: 60_000, ports: { setTimer } })
    const { whole } = await ask(model, request([user('?')]))
    expect([textOf(whole.content), set.size]).toEqual(['Here.', 0])
  })
})

function counting(ran: unknown[]): LlmAgent['options']['tools'] {
  return [
    tool({
      name: 'add',
      description: 'Adds',
      parameters: z.object({ n: z.number() }),
      effect: 'none',
      run: ({ n }) => void ran.push(n),
    }),
  ]
}

test('fromAiSdk() runs only maxCallsPerReply of thousands of calls in one reply', async () => {
  const calls = Array.from({ length: 5000 }, (_, n) => ({ id: `c${n}`, name: 'add', args: { n } }))
  await using server = await ProviderServer.start([chat.say({ calls }), chat.say({ text: 'Done.' })])
  const ran: unknown[] = []
  const agent = new LlmAgent({ name: 'agent', model: fromAiSdk(chat.model(server.url)), tools: counting(ran) ?? [] })
  const runner = new Runner({ appName: 'app', agent, logger: quiet, maxCallsPerReply: 10 })
  const { text, error } = await runner.complete({ userId: 'ada', message: '?' })
  expect([text, error, ran.length]).toEqual(['Done.', undefined, 10])
})

test.each([chat, claude])('fromAiSdk() with $name runs both calls that share an id', async (format) => {
  const calls = [1, 2].map((n) => ({ id: 'same', name: 'add', args: { n } }))
  await using server = await ProviderServer.start([format.say({ calls }), format.say({ text: 'Done.' })])
  const ran: unknown[] = []
  const agent = new LlmAgent({ name: 'agent', model: fromAiSdk(format.model(server.url)), tools: counting(ran) ?? [] })
  const { text } = await new Runner({ appName: 'app', agent, logger: quiet }).complete({ userId: 'ada', message: '?' })
  expect([text, ran]).toEqual(['Done.', [1, 2]])
  const ids = JSON.stringify(server.requests[1]?.body).match(/"(tool_call_id|tool_use_id)":"([^"]+)"/g) ?? []
  expect([ids.length, new Set(ids).size]).toEqual([2, 2])
})

test.each([
  ['in a stream', true, { events: ['data: {"id": oops}\n\n'] }],
  ['in a body', false, { events: ['{"choices": [oops'], headers: { 'content-type': 'application/json' } }],
])('fromAiSdk() reports invalid JSON %s', async (_, stream, reply: Reply) => {
  await using server = await ProviderServer.start([reply])
  const asking = ask(fromAiSdk(chat.model(server.url), { maxRetries: 0 }), request([user('?')]), { stream })
  await expect(asking).rejects.toThrow('openai.chat sent a reply that could not be parsed.')
})

test('fromAiSdk() does not run a call whose arguments a token limit cut off', async () => {
  const calls = [{ id: 'c1', name: 'wipe', args: {}, raw: '' }]
  await using server = await ProviderServer.start([
    chat.say({ calls, finish: 'length' }),
    chat.say({ calls }),
    chat.say({ text: 'Done.' }),
  ])
  const ran: unknown[] = []
  const wipe = tool({
    name: 'wipe',
    description: 'Deletes files',
    parameters: z.object({ only: z.string().optional() }),
    run: (args) => void ran.push(args),
  })
  const agent = new LlmAgent({ name: 'agent', model: fromAiSdk(chat.model(server.url)), tools: [wipe] })
  const { text } = await new Runner({ appName: 'app', agent, logger: quiet }).complete({ userId: 'ada', message: '?' })
  expect(text).toBe('Done.')
  expect(JSON.stringify(at(server.requests[1]?.body, 'messages'))).toContain('INVALID_ARGS')
  expect(ran).toEqual([{}]) // only the second, complete call ran
})
