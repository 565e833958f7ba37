// What a user sees when a provider fails, over real connections.
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Ports } from '../../base/ports.ts'
import { textOf } from '../../content/content.ts'
import { ProviderServer, type Reply, upTo } from '../../testing/server/providers.ts'
import { type FromAiSdkOptions, fromAiSdk } from '../from-ai-sdk.ts'
import {
  ask,
  chat,
  claude,
  gemini,
  providers,
  request,
  responses,
  user,
  type Wire,
  waysToAsk,
  wires,
} from '../providers.test-kit.ts'
import { AiSdkError } from './ai-sdk-error.ts'

const SECRET = 'sk-test-0123456789abcdef'
const refuse = (status: number, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  json: { type: 'error', error: { type: 'oh', message, code: status, status: 'OH' } },
})

/** Timers that fire at once and are written down. */
function patience(): { waits: number[]; ports: Pick<Ports, 'setTimer' | 'random' | 'now'> } {
  const waits: number[] = []
  const setTimer: Ports['setTimer'] = (callback, ms) => {
    waits.push(ms)
    queueMicrotask(callback)
    return () => {}
  }
  return { waits, ports: { setTimer, random: () => 0.5, now: () => Date.UTC(2026, 0, 1) } }
}

async function failure(
  wire: Wire,
  replies: readonly Reply[],
  { stream = false, ...options }: FromAiSdkOptions & { stream?: boolean } = {},
): Promise<{ error: AiSdkError; asked: number }> {
  await using server = await ProviderServer.start(replies)
  const model = fromAiSdk(wire.model(server.url), { maxRetries: 0, ...options })
  const asking = ask(model, request([user('My secret plan')]), { stream })
  const error = await asking.then(
    () => new Error('It went well.'),
    (thrown: AiSdkError) => thrown,
  )
  expect(error).toBeInstanceOf(AiSdkError)
  return { error: error as AiSdkError, asked: server.requests.length }
}

describe.each(waysToAsk)('$how', ({ wire, stream }) => {
  test('a refusal has plain words and its status', async () => {
    const { error } = await failure(wire, [refuse(400, 'The plan is too long.')], { stream })
    expect(error).toMatchObject({ status: 400, isRetryable: false, provider: expect.any(String) })
    expect(error.message).toMatch(/rejected the request \(400\): The plan is too long\.$/)
  })

  test('a wrong key is not repeated, nor is what was asked', async () => {
    const { error } = await failure(wire, [refuse(401, `Incorrect API key provided: ${SECRET}`)], { stream })
    expect(error.message).toMatch(/rejected the request \(401\)\. Check its API key\.$/)
    expect(inspect(error)).not.toContain(SECRET)
    expect(inspect(error)).not.toContain('secret plan')
  })

  test('it is tried again when that may help, and waits as long as it is asked to', async () => {
    const { waits, ports } = patience()
    await using server = await ProviderServer.start([
      refuse(503, 'Overloaded'),
      refuse(429, 'Slow down', { 'retry-after': '3' }),
      wire.say({ text: 'Here.' }),
    ])
    const { whole } = await ask(fromAiSdk(wire.model(server.url), { ports }), request([user('?')]), { stream })
    expect(textOf(whole.content)).toBe('Here.')
    expect(waits).toEqual([250, 3000])
  })
})

test.each([
  ['seconds', { 'retry-after': '2' }, 2000],
  ['milliseconds', { 'retry-after-ms': '150' }, 150],
  ['a date', { 'retry-after': new Date(Date.UTC(2026, 0, 1, 0, 0, 5)).toUTCString() }, 5000],
  ['a date that is over', { 'retry-after': new Date(0).toUTCString() }, 0],
  ['nonsense', { 'retry-after': 'soon' }, 250],
])('what a provider asks to wait: %s', async (_, headers, expected) => {
  const { waits, ports } = patience()
  const replies = [refuse(429, 'Slow down', headers), refuse(400, 'No.')]
  await failure(chat, replies, { ports, maxRetries: 1 })
  expect(waits).toEqual([expected])
})

test('nobody waits an hour: the error says what is asked', async () => {
  const { waits, ports } = patience()
  const replies = [refuse(429, 'Slow down', { 'retry-after': '3600' })]
  const { error, asked } = await failure(chat, replies, { ports, maxRetries: 2 })
  expect(error.message).toContain('(429, retry after 3600 s): Slow down')
  expect(error.retryAfterMs).toBe(3_600_000)
  expect([waits, asked]).toEqual([[], 1])
})

test('after three attempts it is enough', async () => {
  const { waits, ports } = patience()
  const replies = [1, 2, 3, 4].map((at) => refuse(500, `Failure ${at}`))
  const { error, asked } = await failure(chat, replies, { ports, maxRetries: 2 })
  expect(error.message).toContain('failed (500): Failure 3')
  expect([waits, asked]).toEqual([[250, 500], 3])
})

test('what looks like a key is masked in what a provider says', async () => {
  const words = `Key ${SECRET} and AIzaSyA0123456789012345678901234567890 and Bearer abcdefghijkl`
  const { error } = await failure(chat, [refuse(400, words)])
  expect(error.message).toMatch(/Key \[hidden\] and \[hidden\] and Bearer \[hidden\]$/)
  const { error: long } = await failure(chat, [refuse(400, 'x'.repeat(5000))])
  expect(long.message.length).toBeLessThan(600)
})

test('a server that is not there', async () => {
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

test('an error under the status of a success is told in its own words', async () => {
  const xai = providers.find(({ name }) => name === 'xai chat') as Wire
  const { error } = await failure(xai, [{ json: { code: 'Overloaded', error: 'The grid is busy.' } }])
  expect(error.message).toBe('xai.chat failed: The grid is busy.')
})

test('a refusal that a provider cannot read is told in its own words', async () => {
  const groq = providers.find(({ name }) => name === 'groq') as Wire
  const { error } = await failure(groq, [{ status: 400, json: { detail: `The plan has a hole, ${SECRET}` } }])
  expect(error.message).toBe('groq.chat rejected the request (400): The plan has a hole, [hidden]')
})

test('an answer that cannot be read', async () => {
  const { error } = await failure(chat, [{ json: { choices: 'none' } }])
  expect(error.message).toBe('openai.chat sent a reply that could not be parsed.')
  expect(String(error.cause)).toContain('choices')
  expect(inspect(error)).not.toContain('secret plan')
})

describe.each(wires)('$name: a stream', (wire) => {
  test.each(['end', 'break'] as const)('that is cut off (%s) is an error and is not begun anew', async (ending) => {
    const cutOff = upTo(wire.say({ text: 'It is very cold.' }), 'It i', { ending })
    const seen: string[] = []
    await using server = await ProviderServer.start([cutOff, wire.say({ text: 'Again.' })])
    const model = fromAiSdk(wire.model(server.url), { ports: patience().ports })
    const asking = (async () => {
      for await (const { content } of model.generate(request([user('?')]), { stream: true })) seen.push(textOf(content))
    })()
    await expect(asking).rejects.toThrow(/was cut off before its end/)
    expect(seen.join('')).toMatch(/^It/)
    expect(server.requests).toHaveLength(1)
  })

  test('that is cut off before its first word is begun anew', async () => {
    const nothing: Reply = { events: [': hello\n\n'], ending: 'break' }
    await using server = await ProviderServer.start([nothing, wire.say({ text: 'Again.' })])
    const model = fromAiSdk(wire.model(server.url), { ports: patience().ports })
    const { whole } = await ask(model, request([user('?')]), { stream: true })
    expect(textOf(whole.content)).toBe('Again.')
  })
})

test.each([
  [chat, { error: { message: 'The server had an error', type: 'server_error', code: null } }],
  [responses, { type: 'error', sequence_number: 3, code: 'server_error', message: 'The server had an error' }],
  [claude, { type: 'error', error: { type: 'overloaded_error', message: 'The server had an error' } }],
  [gemini, { error: { code: 503, message: 'The server had an error', status: 'UNAVAILABLE' } }],
])('an error in the middle of a stream ends it with its words', async (wire, event) => {
  const failing = upTo(wire.say({ text: 'It is cold.' }), 'It i', { events: [event] })
  const { error, asked } = await failure(wire, [failing, failing], {
    stream: true,
    maxRetries: 2,
    ports: patience().ports,
  })
  expect(error.message).toContain('The server had an error')
  expect(asked).toBe(1)
})

describe('aborting', () => {
  test.each(waysToAsk)('$how: it ends the request and the wait, with the reason given', async ({ wire, stream }) => {
    const streamed = upTo(wire.say({ text: 'It is very cold.' }), 'It i', { ending: 'hold' })
    const held = stream ? streamed : { events: [' '], ending: 'hold' as const }
    await using server = await ProviderServer.start([held])
    const controller = new AbortController()
    const asking = ask(fromAiSdk(wire.model(server.url)), request([user('?')]), { stream, signal: controller.signal })
    await server.hasBeenAsked(1)
    const reason = new Error('Enough.')
    controller.abort(reason)
    await expect(asking).rejects.toBe(reason)
    await server.requests[0]?.closed
  })

  test('while it waits to try again', async () => {
    await using server = await ProviderServer.start([refuse(503, 'Overloaded')])
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

  test('whoever stops listening ends the request', async () => {
    const held = upTo(chat.say({ text: 'It is very cold.' }), 'It i', { ending: 'hold' })
    await using server = await ProviderServer.start([held])
    for await (const _ of fromAiSdk(chat.model(server.url)).generate(request([user('?')]), { stream: true })) break
    await server.requests[0]?.closed
  })
})

test('an error inside a stream that will not pass is not asked for again', async () => {
  const openrouter = providers.find(({ name }) => name === 'openrouter') as Wire
  const events = [{ error: { code: 402, message: 'No credits are left.' } }]
  const { error, asked } = await failure(openrouter, [{ events }], { stream: true, maxRetries: 2 })
  expect([error.message, error.isRetryable, asked]).toEqual(['openrouter: No credits are left.', false, 1])
  expect(inspect(error)).not.toContain('secret plan')
})
