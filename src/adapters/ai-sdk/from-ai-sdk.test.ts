// Complete turns with the real provider packages and a local server that speaks their formats.
import type { LanguageModelV3 } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { ProviderServer } from '../../../test/providers/provider-server.ts'
import type { Content } from '../../core/content/content.ts'
import { textOf } from '../../core/content/content.ts'
import { fromAiSdk } from './from-ai-sdk.ts'
import { ask, at, chat, claude, formatCases, gemini, request, responses, stored, user } from './providers.test-kit.ts'

const parametersJsonSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = { functionDeclarations: [{ name: 'get_weather', description: 'The weather', parametersJsonSchema }] }
const config = { systemInstruction: 'Be brief.', tools: [weather] }
const oslo = { id: 'c1', name: 'get_weather', args: { city: 'Oslo' } }
const rome = { id: 'c2', name: 'get_weather', args: { city: 'Rome' } }

function answers(...results: readonly [id: string, temperature: number][]): Content {
  const parts = results.map(([id, temperature]) => ({
    functionResponse: { id, name: 'get_weather', response: { temperature } },
  }))
  return { role: 'tool', parts }
}

describe.each(formatCases)('fromAiSdk() with $how,', ({ format, stream }) => {
  test('returns the text, token counts and finish reason of a reply', async () => {
    await using server = await ProviderServer.start([format.say({ text: 'It is cold in Oslo.' })])
    const { whole, partial } = await ask(fromAiSdk(format.model(server.url)), request([user('Oslo?')], config), {
      stream,
    })
    expect(textOf(whole.content)).toBe('It is cold in Oslo.')
    expect(whole).toMatchObject({ finishReason: 'STOP', turnComplete: true })
    expect(whole.usageMetadata).toMatchObject({
      promptTokenCount: 12,
      totalTokenCount: 20,
      cachedContentTokenCount: 4,
    })
    expect(whole.customMetadata).toMatchObject({ aiSdk: { responseId: expect.stringMatching(/1$/) } })
    expect(partial.map(({ content }) => textOf(content)).join('')).toBe(stream ? 'It is cold in Oslo.' : '')
    expect(JSON.stringify(server.requests[0]?.body)).toContain('Be brief.')
  })

  test('keeps the ids of two calls in one reply and sends their results in order', async () => {
    const first = format.say({ text: 'Let me look.', calls: [oslo, rome], signature: 'S1' })
    await using server = await ProviderServer.start([first, format.say({ text: 'Rome is warmer.' })])
    const model = fromAiSdk(format.model(server.url))
    const { whole } = await ask(model, request([user('Oslo or Rome?')], config), { stream })
    const called = whole.content?.parts.flatMap(({ functionCall }) => functionCall ?? [])
    expect(called).toEqual([oslo, rome])
    expect(whole.finishReason).toBe('STOP')
    const history = stored([user('Oslo or Rome?'), whole.content as Content, answers(['c1', 2], ['c2', 19])])
    const { whole: last } = await ask(model, request(history, config), { stream })
    expect(textOf(last.content)).toBe('Rome is warmer.')
    const sent = JSON.stringify(server.requests[1]?.body)
    const order = ['Let me look.', 'Oslo', 'Rome', 'temperature\\":2', 'temperature\\":19'].map((word) =>
      sent.replaceAll('"temperature":', 'temperature\\":').lastIndexOf(word),
    )
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order).not.toContain(-1)
  })
})

// formats that send arguments as text; Google sends JSON
const withText = formatCases.filter(
  ({ format, stream }) => format === chat || format === responses || (format === claude && stream),
)

test.each(withText)('fromAiSdk() with $how, sends invalid arguments back to the model unchanged', async (way) => {
  const { format, stream } = way
  const broken = { id: 'c1', name: 'get_weather', raw: '{"city": "Os' }
  await using server = await ProviderServer.start([format.say({ calls: [broken] }), format.say({ text: 'Sorry.' })])
  const model = fromAiSdk(format.model(server.url))
  const { whole } = await ask(model, request([user('Oslo?')], config), { stream })
  const [part] = whole.content?.parts ?? []
  expect(part?.functionCall).toEqual({ id: 'c1', name: 'get_weather', args: '{"city": "Os' })
  // what dispatch answers to invalid arguments
  const call = { ...part, functionCall: { id: 'c1', name: 'get_weather', args: {} } }
  const refused = { error: 'Invalid arguments', errorCode: 'INVALID_ARGS' }
  const functionResponse = { id: 'c1', name: 'get_weather', response: refused }
  const history: Content[] = [
    user('Oslo?'),
    { role: 'model', parts: [call] },
    { role: 'tool', parts: [{ functionResponse }] },
  ]
  await ask(model, request(stored(history), config), { stream })
  const sent = JSON.stringify(server.requests[1]?.body).replaceAll('\\', '')
  expect(sent).toContain('{"invalidArguments":"{"city": "Os"}')
  expect(sent).toContain('INVALID_ARGS')
})

const thinkingTurn = { thinking: 'Cold, surely.', signature: 'SIGNED', redacted: 'HIDDEN', calls: [oslo, rome] }

describe('fromAiSdk() sends provider metadata back on the same part after a restart:', () => {
  const second = async (format: typeof chat, stream: boolean, said: object = thinkingTurn): Promise<unknown> => {
    await using server = await ProviderServer.start([format.say(said), format.say({ text: 'Cold.' })])
    const model = fromAiSdk(format.model(server.url), { providerOptions: { openai: { store: false } } })
    const { whole } = await ask(model, request([user('?')], config), { stream })
    const again = fromAiSdk(format.model(server.url), { providerOptions: { openai: { store: false } } })
    const history = stored([user('?'), whole.content as Content, answers(['c1', 2], ['c2', 19])])
    await ask(again, request(history, config), { stream })
    return server.requests[1]?.body
  }

  test.each([true, false])('Anthropic: signed and redacted thinking (streamed: %s)', async (stream) => {
    expect(at(await second(claude, stream), 'messages', 1, 'content')).toMatchObject([
      { type: 'thinking', thinking: 'Cold, surely.', signature: 'SIGNED' },
      { type: 'redacted_thinking', data: 'HIDDEN' },
      { type: 'tool_use', id: 'c1' },
      { type: 'tool_use', id: 'c2' },
    ])
  })

  test.each([true, false])('OpenAI: encrypted reasoning under its item (streamed: %s)', async (stream) => {
    const input = at(await second(responses, stream), 'input')
    expect(at(input, 2)).toMatchObject({ type: 'reasoning', id: 'rs_1', encrypted_content: 'SIGNED' })
    expect(at(input, 3)).toMatchObject({ type: 'function_call', call_id: 'c1' })
  })

  test.each([true, false])('OpenAI: encrypted reasoning without text (streamed: %s)', async (stream) => {
    const input = at(await second(responses, stream, { ...thinkingTurn, thinking: '' }), 'input')
    expect(at(input, 2)).toEqual({ type: 'reasoning', id: 'rs_1', encrypted_content: 'SIGNED', summary: [] })
  })

  test.each([true, false])('Google: the signature of the first call only (streamed: %s)', async (stream) => {
    expect(at(await second(gemini, stream), 'contents', 1, 'parts')).toMatchObject([
      { text: 'Cold, surely.', thought: true },
      { functionCall: { id: 'c1' }, thoughtSignature: 'SIGNED' },
      expect.not.objectContaining({ thoughtSignature: expect.anything() }),
    ])
  })

  test('Google: a signature that gemini() stored in the log', async () => {
    await using server = await ProviderServer.start([gemini.say({ text: 'Cold.' })])
    const call = { functionCall: oslo, thoughtSignature: 'NATIVE' }
    const history = [user('?'), { role: 'model' as const, parts: [call] }, answers(['c1', 2])]
    await ask(fromAiSdk(gemini.model(server.url)), request(history, config))
    expect(at(server.requests[0]?.body, 'contents', 1, 'parts', 0)).toMatchObject({ thoughtSignature: 'NATIVE' })
  })
})

test('fromAiSdk() stores a signature of Google where gemini() reads it', async () => {
  await using server = await ProviderServer.start([gemini.say({ calls: [oslo], signature: 'SIGNED' })])
  const { whole } = await ask(fromAiSdk(gemini.model(server.url)), request([user('?')], config))
  expect(whole.content?.parts).toMatchObject([{ thoughtSignature: 'SIGNED' }])
})

test('fromAiSdk() continues a session of another provider', async () => {
  await using server = await ProviderServer.start([claude.say(thinkingTurn), chat.say({ text: 'Cold.' })])
  const { whole } = await ask(fromAiSdk(claude.model(server.url)), request([user('?')], config))
  const history = stored([user('?'), whole.content as Content, answers(['c1', 2], ['c2', 19])])
  await ask(fromAiSdk(chat.model(server.url)), request(history, config))
  expect(at(server.requests[1]?.body, 'messages', 2)).toMatchObject({ tool_calls: [{ id: 'c1' }, { id: 'c2' }] })
})

test('fromAiSdk() streams thoughts and text separately', async () => {
  await using server = await ProviderServer.start([claude.say({ thinking: 'Hm.', signature: 'S', text: 'Cold.' })])
  const { partial } = await ask(fromAiSdk(claude.model(server.url)), request([user('?')]), { stream: true })
  const parts = partial.flatMap(({ content }) => content?.parts ?? [])
  expect(parts).toEqual([{ text: 'Hm.', thought: true }, { text: 'Cold' }, { text: '.' }])
})

test.each([chat, responses, claude])('fromAiSdk() with $name streams the arguments of a call', async (format) => {
  await using server = await ProviderServer.start([format.say({ calls: [oslo] })])
  const { partial } = await ask(fromAiSdk(format.model(server.url)), request([user('?')], config), { stream: true })
  const written = partial.flatMap(({ customMetadata }) => (customMetadata ? [customMetadata.toolInput] : []))
  expect(written[0]).toMatchObject({ id: 'c1', name: 'get_weather' })
  expect(written.map((one) => at(one, 'delta')).join('')).toBe('{"city":"Oslo"}')
})

test.each([
  { format: chat, finish: 'length', expected: 'MAX_TOKENS' },
  { format: chat, finish: 'content_filter', expected: 'SAFETY' },
  { format: claude, finish: 'max_tokens', expected: 'MAX_TOKENS' },
  { format: claude, finish: 'refusal', expected: 'SAFETY' },
  { format: responses, finish: 'max_output_tokens', expected: 'MAX_TOKENS' },
  { format: gemini, finish: 'MAX_TOKENS', expected: 'MAX_TOKENS' },
  { format: gemini, finish: 'RECITATION', expected: 'RECITATION' },
])(
  'fromAiSdk() reports the finish reason $finish of $format.name as $expected',
  async ({ format, finish, expected }) => {
    await using server = await ProviderServer.start([
      format.say({ text: 'It is', finish }),
      format.say({ thinking: 'Hm.', signature: 'S', finish }),
    ])
    const model = fromAiSdk(format.model(server.url))
    const { whole } = await ask(model, request([user('?')]))
    expect(whole.finishReason).toBe(expected)
    expect(whole.errorCode).toBeUndefined()
    const { whole: silent } = await ask(model, request([user('?')]))
    expect(silent).toMatchObject({
      errorCode: expected,
      errorMessage: expect.stringContaining('sent an empty reply'),
    })
  },
)

describe('capability toolsWithOutputSchema', () => {
  const url = 'http://127.0.0.1:1'
  test.each([
    ['OpenAI', chat.model(url), true],
    ['Anthropic', claude.model(url), true],
    ['Gemini 3', gemini.model(url), true],
    ['Gemini 2.5', gemini.model(url, 'gemini-2.5-pro'), false],
    ['an older Anthropic provider', older('anthropic.messages'), false],
    ['an unknown provider', older('stranger.chat'), false],
  ])('of %s has a default that the option overrides', (_, model, both) => {
    expect(fromAiSdk(model).capabilities?.toolsWithOutputSchema ?? false).toBe(both)
    expect(fromAiSdk(model, { toolsWithOutputSchema: !both }).capabilities?.toolsWithOutputSchema ?? false).toBe(!both)
  })
})

test('fromAiSdk() rejects values that are not AI SDK models', () => {
  const never = older('stranger')
  expect(() => fromAiSdk('openai/gpt-5' as never)).toThrow("for example openai('gpt-5')")
  expect(() => fromAiSdk({ ...never, specificationVersion: 'v1' } as never)).toThrow('specificationVersion "v1"')
  expect(() => fromAiSdk(never, { maxRetries: -1 })).toThrow('maxRetries')
})

function older(provider: string): LanguageModelV3 {
  const never = () => Promise.reject(new Error('not asked'))
  return { specificationVersion: 'v3', provider, modelId: 'm', supportedUrls: {}, doGenerate: never, doStream: never }
}
