// Errors of providers, over real connections.
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ProviderServer, type Reply, truncateAfter } from '../../../../test/providers/provider-server.ts'
import type { Ports } from '../../../core/base/ports.ts'
import { textOf } from '../../../core/content/content.ts'
import { type FromAiSdkOptions, fromAiSdk } from '../from-ai-sdk.ts'
import {
  ask,
  chat,
  claude,
  formatCases,
  formats,
  gemini,
  type ProviderFormat,
  providers,
  request,
  responses,
  user,
} from '../providers.test-kit.ts'
import { AiSdkError } from './ai-sdk-error.ts'

const SECRET = 'sk-test-0123456789abcdef'
const reject = (status: number, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  json: { type: 'error', error: { type: 'oh', message, code: status, status: 'OH' } },
})

/** Records the delays of timers, which fire immediately. */
function recordTimers(): { waits: number[]; ports: Pick<Ports, 'setTimer' | 'random' | 'now'> } {
  const waits: number[] = []
  const setTimer: Ports['setTimer'] = (callback, ms) => {
    waits.push(ms)
    queueMicrotask(callback)
    return () => {}
  }
  return { waits, ports: { setTimer, random: () => 0.5, now: () => Date.UTC(2026, 0, 1) } }
}

async function failure(
  format: ProviderFormat,
  replies: readonly Reply[],
  { stream = false, ...options }: FromAiSdkOptions & { stream?: boolean } = {},
): Promise<{ error: AiSdkError; asked: number }> {
  await using server = await ProviderServer.start(replies)
  const model = fromAiSdk(format.model(server.url), { maxRetries: 0, ...options })
  const asking = ask(model, request([user('My secret plan')]), { stream })
  const error = await asking.then(
    () => new Error('The request succeeded.'),
    (thrown: AiSdkError) => thrown,
  )
  expect(error).toBeInstanceOf(AiSdkError)
  return { error: error as AiSdkError, asked: server.requests.length }
}

describe.each(formatCases)('fromAiSdk() with $how,', ({ format, stream }) => {
  test('reports a rejection with its message and status', async () => {
    const { error } = await failure(format, [reject(400, 'The plan is too long.')], { stream })
    expect(error).toMatchObject({ status: 400, isRetryable: false, provider: expect.any(String) })
    expect(error.message).toMatch(/rejected the request \(400\): The plan is too long\.$/)
  })

  test('shows neither the API key nor the prompt when the provider rejects the key', async () => {
    const { error } = await failure(format, [reject(401, `Incorrect API key provided: ${SECRET}`)], { stream })
    expect(error.message).toMatch(/rejected the request \(401\)\. Check its API key\.$/)
    expect(inspect(error)).not.toContain(SECRET)
    expect(inspect(error)).not.toContain('secret plan')
  })

  test('retries a retryable error after the delay of the provider', async () => {
    const { waits, ports } = recordTimers()
    await using server = await ProviderServer.start([
      reject(503, 'Overloaded'),
      reject(429, 'Slow down', { 'retry-after': '3' }),
      format.say({ text: 'Here.' }),
    ])
    const { whole } = await ask(fromAiSdk(format.model(server.url), { ports }), request([user('?')]), { stream })
    expect(textOf(whole.content)).toBe('Here.')
    expect(waits).toEqual([250, 3000])
  })
})

test.each([
  ['seconds', { 'retry-after': '2' }, 2000],
  ['milliseconds', { 'retry-after-ms': '150' }, 150],
  ['a date', { 'retry-after': new Date(Date.UTC(2026, 0, 1, 0, 0, 5)).toUTCString() }, 5000],
  ['a date in the past', { 'retry-after': new Date(0).toUTCString() }, 0],
  ['the default delay for an invalid value', { 'retry-after': 'soon' }, 250],
])('fromAiSdk() reads the retry delay of a provider: %s', async (_, headers, expected) => {
  const { waits, ports } = recordTimers()
  const replies = [reject(429, 'Slow down', headers), reject(400, 'No.')]
  await failure(chat, replies, { ports, maxRetries: 1 })
  expect(waits).toEqual([expected])
})

test('fromAiSdk() does not retry when the provider asks to wait for an hour', async () => {
  const { waits, ports } = recordTimers()
  const replies = [reject(429, 'Slow down', { 'retry-after': '3600' })]
  const { error, asked } = await failure(chat, replies, { ports, maxRetries: 2 })
  expect(error.message).toContain('(429, retry after 3600 s): Slow down')
  expect(error.retryAfterMs).toBe(3_600_000)
  expect([waits, asked]).toEqual([[], 1])
})

test('fromAiSdk() stops after three attempts', async () => {
  const { waits, ports } = recordTimers()
  const replies = [1, 2, 3, 4].map((at) => reject(500, `Failure ${at}`))
  const { error, asked } = await failure(chat, replies, { ports, maxRetries: 2 })
  expect(error.message).toContain('failed (500): Failure 3')
  expect([waits, asked]).toEqual([[250, 500], 3])
})

test('fromAiSdk() hides API keys in the message of a provider', async () => {
  const words = `Key ${SECRET} and AIzaSyA0123456789012345678901234567890 and Bearer abcdefghijkl`
  const { error } = await failure(chat, [reject(400, words)])
  expect(error.message).toMatch(/Key \[hidden\] and \[hidden\] and Bearer \[hidden\]$/)
  const { error: long } = await failure(chat, [reject(400, 'x'.repeat(5000))])
  expect(long.message.length).toBeLessThan(600)
})

test('fromAiSdk() reports an unreachable server', async () => {
  const server = await ProviderServer.start([])
  const { url } = server
  await server[Symbol.asyncDispose]()
  const model = fromAiSdk(chat.model(url), { maxRetries: 0 })
  await expect(ask(model, request([user('?')]))).rejects.toMatchObject({
    message: expect.stringContaining('openai.chat could not be reached'),
    isRetryable: true,
    status: undefined,
  })
})

test('fromAiSdk() reports the message of an error with status 200', async () => {
  const xai = providers.find(({ name }) => name === 'xai chat') as ProviderFormat
  const { error } = await failure(xai, [{ json: { code: 'Overloaded', error: 'The grid is busy.' } }])
  expect(error.message).toBe('xai.chat failed: The grid is busy.')
})

test('fromAiSdk() reports the message of an error that the provider package cannot parse', async () => {
  const groq = providers.find(({ name }) => name === 'groq') as ProviderFormat
  const { error } = await failure(groq, [{ status: 400, json: { detail: `The plan has a hole, ${SECRET}` } }])
  expect(error.message).toBe('groq.chat rejected the request (400): The plan has a hole, [hidden]')
})

test('fromAiSdk() reports a reply that cannot be parsed', async () => {
  const { error } = await failure(chat, [{ json: { choices: 'none' } }])
  expect(error.message).toBe('openai.chat sent a reply that could not be parsed.')
  expect(String(error.cause)).toContain('choices')
  expect(inspect(error)).not.toContain('secret plan')
})

describe.each(formats)('a stream of $name', (format) => {
  test.each(['end', 'break'] as const)('that is cut off (%s) is an error and is not retried', async (ending) => {
    const cutOff = truncateAfter(format.say({ text: 'It is very cold.' }), 'It i', { ending })
    const seen: string[] = []
    await using server = await ProviderServer.start([cutOff, format.say({ text: 'Again.' })])
    const model = fromAiSdk(format.model(server.url), { ports: recordTimers().ports })
    const asking = (async () => {
      for await (const { content } of model.generate(request([user('?')]), { stream: true })) seen.push(textOf(content))
    })()
    await expect(asking).rejects.toThrow(/was cut off before its end/)
    expect(seen.join('')).toMatch(/^It/)
    expect(server.requests).toHaveLength(1)
  })

  test('that is cut off before its first delta is retried', async () => {
    const nothing: Reply = { events: [': hello\n\n'], ending: 'break' }
    await using server = await ProviderServer.start([nothing, format.say({ text: 'Again.' })])
    const model = fromAiSdk(format.model(server.url), { ports: recordTimers().ports })
    const { whole } = await ask(model, request([user('?')]), { stream: true })
    expect(textOf(whole.content)).toBe('Again.')
  })
})

test.each([
  [chat, { error: { message: 'The server had an error', type: 'server_error', code: null } }],
  [responses, { type: 'error', sequence_number: 3, code: 'server_error', message: 'The server had an error' }],
  [claude, { type: 'error', error: { type: 'overloaded_error', message: 'The server had an error' } }],
  [gemini, { error: { code: 503, message: 'The server had an error', status: 'UNAVAILABLE' } }],
])('fromAiSdk() reports an error in the middle of a stream with its message', async (format, event) => {
  const failing = truncateAfter(format.say({ text: 'It is cold.' }), 'It i', { events: [event] })
  const { error, asked } = await failure(format, [failing, failing], {
    stream: true,
    maxRetries: 2,
    ports: recordTimers().ports,
  })
  expect(error.message).toContain('The server had an error')
  expect(asked).toBe(1)
})

describe('aborting a request of fromAiSdk()', () => {
  test.each(formatCases)('$how: closes the connection and throws the reason', async ({ format, stream }) => {
    const streamed = truncateAfter(format.say({ text: 'It is very cold.' }), 'It i', { ending: 'hold' })
    const held = stream ? streamed : { events: [' '], ending: 'hold' as const }
    await using server = await ProviderServer.start([held])
    const controller = new AbortController()
    const asking = ask(fromAiSdk(format.model(server.url)), request([user('?')]), { stream, signal: controller.signal })
    await server.waitForRequests(1)
    const reason = new Error('Enough.')
    controller.abort(reason)
    await expect(asking).rejects.toBe(reason)
    await server.requests[0]?.closed
  })

  test('ends the delay before a retry', async () => {
    await using server = await ProviderServer.start([reject(503, 'Overloaded')])
    const controller = new AbortController()
    const reason = new Error('Enough.')
    const setTimer: Ports['setTimer'] = () => {
      queueMicrotask(() => controller.abort(reason))
      return () => {}
    }
    const model = fromAiSdk(chat.model(server.url), { ports: { setTimer } })
    await expect(ask(model, request([user('?')]), { signal: controller.signal })).rejects.toBe(reason)
    expect(server.requests).toHaveLength(1)
  })

  test('closes the connection when the consumer stops iterating', async () => {
    const held = truncateAfter(chat.say({ text: 'It is very cold.' }), 'It i', { ending: 'hold' })
    await using server = await ProviderServer.start([held])
    for await (const _ of fromAiSdk(chat.model(server.url)).generate(request([user('?')]), { stream: true })) break
    await server.requests[0]?.closed
  })
})

test('fromAiSdk() does not retry a final error inside a stream', async () => {
  const openrouter = providers.find(({ name }) => name === 'openrouter') as ProviderFormat
  const events = [{ error: { code: 402, message: 'No credits are left.' } }]
  const { error, asked } = await failure(openrouter, [{ events }], { stream: true, maxRetries: 2 })
  expect([error.message, error.isRetryable, asked]).toEqual(['openrouter: No credits are left.', false, 1])
  expect(inspect(error)).not.toContain('secret plan')
})
