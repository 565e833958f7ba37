// gemini() end to end: a runner, an agent, the real client, and a local server that rejects what Gemini rejects.
import {
  type Content,
  type Event,
  googleSearch,
  InMemorySessionService,
  LlmAgent,
  type LlmAgentOptions,
  Runner,
  type RunnerOptions,
  tool,
} from 'toolwright'
import { gemini } from 'toolwright/gemini'
import { type GeminiScript, type GeminiServer, geminiServer } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { recordingLogger } from './kit.ts'

const ports = {
  setTimer: (callback: () => void) => {
    queueMicrotask(callback)
    return () => {}
  },
}

const getWeather = tool({
  name: 'get_weather',
  description: 'Weather for a city',
  effect: 'none',
  parameters: z.object({ city: z.string().min(2), days: z.int().positive().max(7).default(1) }),
  run: ({ city, days }) => ({ city, days, temperature: -3 }),
})

function runnerFor(
  server: GeminiServer,
  agent: Partial<LlmAgentOptions> = {},
  more: Partial<RunnerOptions> = {},
): Runner {
  return new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'assistant', model: 'gemini-2.5-flash', tools: [getWeather], ...agent }),
    models: { 'gemini-*': (name) => gemini(name, { apiKey: 'any-key', baseUrl: server.url, ports }) },
    logger: recordingLogger(),
    ...more,
  })
}

const contentsOf = (server: GeminiServer, at: number): Content[] => server.requests[at]?.body.contents as Content[]
const partsOf = (events: readonly Event[]) => events.flatMap(({ content }) => content?.parts ?? [])

async function runScript(script: GeminiScript, agent: Partial<LlmAgentOptions> = {}, streaming = false) {
  await using server = await geminiServer(script)
  const runner = runnerFor(server, agent)
  const events: Event[] = []
  for await (const event of runner.run({ userId: 'ada', message: 'Go', runConfig: { streaming } })) events.push(event)
  const whole = events.filter((event) => !event.partial)
  const failed = whole.find((event) => event.errorCode !== undefined)
  return { events, whole, failed, partial: events.filter((event) => event.partial), server }
}

describe('the runner with Gemini', () => {
  test('answers a message after a tool call, and the next message', async () => {
    await using server = await geminiServer([
      { calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] },
      ({ body }) =>
        `It is ${JSON.stringify((body.contents as Content[]).at(-1)?.parts[0]?.functionResponse?.response)}.`,
      'You are welcome.',
    ])
    const runner = runnerFor(server, { instruction: 'Answer briefly.' })
    const first = await runner.complete({ userId: 'ada', message: 'Oslo?' })
    expect(first.text).toBe('It is {"city":"Oslo","days":1,"temperature":-3}.')
    const { sessionId } = first
    expect((await runner.complete({ userId: 'ada', sessionId, message: 'Thanks.' })).text).toBe('You are welcome.')
    expect(contentsOf(server, 2).map(({ role, parts }) => [role, Object.keys(parts[0] ?? {})])).toEqual([
      ['user', ['text']],
      ['model', ['functionCall']],
      ['user', ['functionResponse']],
      ['model', ['text']],
      ['user', ['text']],
    ])
    expect(server.requests[0]?.body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Answer briefly.' }] },
      tools: [{ functionDeclarations: [{ name: 'get_weather' }] }],
    })
    server.assertComplete()
  })

  test('stores what was streamed in deltas', async () => {
    const { partial, whole } = await runScript(
      [
        { chunks: ['Let me ', 'see.', [{ functionCall: { name: 'get_weather', args: { city: 'Oslo' } } }]] },
        { chunks: ['Co', 'ld.'], dripBytes: 3 },
      ],
      {},
      true,
    )
    const texts = partsOf(partial).map((part) => part.text ?? part.functionCall?.name)
    expect(texts).toEqual(['Let me ', 'see.', 'get_weather', 'Co', 'ld.'])
    expect(partsOf(whole).map((part) => part.text ?? Object.keys(part)[0])).toEqual([
      'Let me see.',
      'functionCall',
      'functionResponse',
      'Cold.',
    ])
    const ids = partsOf([...partial, ...whole]).flatMap((part) => part.functionCall?.id ?? [])
    expect(new Set(ids).size).toBe(1)
  })

  test('assigns ids to calls without ids and does not send those ids to Gemini', async () => {
    const calls = ['Oslo', 'Rome'].map((city) => ({ name: 'get_weather', args: { city } }))
    const { whole, server } = await runScript([{ calls }, 'Both are fine.'])
    const made = partsOf(whole).flatMap((part) => part.functionCall ?? [])
    expect(new Set(made.map(({ id }) => id)).size).toBe(2)
    const [, called, answered] = contentsOf(server, 1)
    expect(called?.parts).toEqual(calls.map((call) => ({ functionCall: call })))
    expect(answered?.parts.map((part) => part.functionResponse?.response.city)).toEqual(['Oslo', 'Rome'])
    expect(answered?.parts.every((part) => part.functionResponse?.id === undefined)).toBe(true)
  })

  test('sends thoughts and signatures back after a restart', async () => {
    const reply = [
      { text: 'The city first.', thought: true },
      { functionCall: { id: 'c1', name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2lnLTE=' },
    ]
    await using server = await geminiServer([
      { parts: reply },
      { parts: [{ text: 'Cold.', thoughtSignature: 'c2lnLTI=' }] },
      'Bye.',
    ])
    const agent = { model: 'gemini-3-flash-preview' }
    const before = runnerFor(server, agent)
    const { sessionId } = await before.complete({ userId: 'ada', message: 'Oslo?' })
    const key = { appName: 'app', userId: 'ada', sessionId }
    const stored = await before.sessionService.getSession(key)
    const sessionService = new InMemorySessionService()
    await sessionService.createSession({ ...key, events: JSON.parse(JSON.stringify(stored?.events)) })
    const after = runnerFor(server, agent, { sessionService })
    expect((await after.complete({ userId: 'ada', sessionId, message: 'Thanks.' })).text).toBe('Bye.')
    expect(contentsOf(server, 2).filter(({ role }) => role === 'model')).toEqual([
      { role: 'model', parts: reply },
      { role: 'model', parts: [{ text: 'Cold.', thoughtSignature: 'c2lnLTI=' }] },
    ])
  })

  test('sends a history that Gemini accepts across a transfer', async () => {
    const signed = (name: string, args: object) => ({
      parts: [{ functionCall: { name, args: { ...args } }, thoughtSignature: 'c2ln' }],
    })
    await using server = await geminiServer([
      signed('transfer_to_agent', { agent_name: 'weatherman' }),
      signed('get_weather', { city: 'Oslo' }),
      'Cold.',
      'And now?',
    ])
    const weatherman = new LlmAgent({ name: 'weatherman', description: 'Knows the weather', tools: [getWeather] })
    const runner = runnerFor(server, { model: 'gemini-3-flash-preview', tools: [], subAgents: [weatherman] })
    const first = await runner.complete({ userId: 'ada', message: 'Oslo?' })
    expect([first.text, first.error]).toEqual(['Cold.', undefined])
    const second = await runner.complete({ userId: 'ada', sessionId: first.sessionId, message: 'Thanks.' })
    expect([second.text, second.error]).toEqual(['And now?', undefined])
  })
})

describe('JSON Schema keywords that Gemini does not support', () => {
  test('are declared as descriptions and validated by the tool', async () => {
    const args = [{ city: 'O' }, { city: 'Oslo', days: 0 }, { city: 'Oslo', days: 2 }]
    const { whole, server } = await runScript([
      ...args.map((one) => ({ calls: [{ name: 'get_weather', args: one }] })),
      'Cold.',
    ])
    expect(server.requests[0]?.body.tools).toMatchObject([
      {
        functionDeclarations: [
          {
            parametersJsonSchema: {
              properties: {
                city: { type: 'string', description: 'At least 2 characters.' },
                days: { minimum: 1, maximum: 7 },
              },
              required: ['city'],
            },
          },
        ],
      },
    ])
    const responses = partsOf(whole).flatMap((part) => (part.functionResponse ? [part.functionResponse.response] : []))
    expect(responses.map(({ errorCode, days }) => errorCode ?? days)).toEqual(['INVALID_ARGS', 'INVALID_ARGS', 2])
  })
})

test('the runner with Gemini requests an outputSchema through set_model_response or as responseJsonSchema', async () => {
  const outputSchema = z.object({ city: z.string() })
  const byTool = await runScript([{ calls: [{ name: 'set_model_response', args: { city: 'Oslo' } }] }], {
    outputSchema,
  })
  expect(byTool.failed).toBeUndefined()
  expect(byTool.server.requests[0]?.body.generationConfig).not.toHaveProperty('responseJsonSchema')
  for (const agent of [{ model: 'gemini-3-flash-preview' }, { tools: [] }]) {
    const native = await runScript(['{"city":"Oslo"}'], { outputSchema, ...agent })
    expect(native.failed).toBeUndefined()
    expect(native.server.requests[0]?.body.generationConfig).toMatchObject({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
    })
  }
})

describe('Gemini server-side tools', () => {
  const candidate = { groundingMetadata: { webSearchQueries: ['oslo'] } }

  test('are sent alone, and their grounding metadata is on the event', async () => {
    const { whole, server } = await runScript([{ text: 'Cold.', candidate }], { tools: [googleSearch()] })
    expect(server.requests[0]?.body.tools).toEqual([{ googleSearch: {} }])
    expect(whole[0]?.groundingMetadata).toEqual({ webSearchQueries: ['oslo'] })
  })

  test('run in an agent of their own when Gemini rejects them next to functions', async () => {
    const { failed, server } = await runScript(
      [{ calls: [{ name: 'google_search', args: { request: 'Oslo' } }] }, { text: 'Cold.', candidate }, 'It is cold.'],
      { tools: [getWeather, googleSearch()] },
    )
    expect(failed).toBeUndefined()
    expect(server.requests.map(({ body }) => (body.tools as object[]).flatMap((one) => Object.keys(one)))).toEqual([
      ['functionDeclarations'],
      ['googleSearch'],
      ['functionDeclarations'],
    ])
  })

  test('are sent next to functions from Gemini 3 on', async () => {
    const { failed, server } = await runScript(['Cold.'], {
      model: 'gemini-3-flash-preview',
      tools: [getWeather, googleSearch()],
    })
    expect(failed).toBeUndefined()
    expect(server.requests[0]?.body).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'get_weather' }] }, { googleSearch: {} }],
      toolConfig: { includeServerSideToolInvocations: true },
    })
  })
})

test('the runner sends code and output of a local code executor to Gemini as text', async () => {
  const codeExecutor = { languages: ['python'], execute: async () => ({ outcome: 'OK' as const, output: '42' }) }
  const code = { executableCode: { language: 'PYTHON', code: 'print(6 * 7)' } }
  const { whole, failed, server } = await runScript([{ parts: [code] }, 'It is 42.'], { codeExecutor, tools: [] })
  expect(failed).toBeUndefined()
  expect(partsOf(whole).map((part) => Object.keys(part)[0])).toEqual(['executableCode', 'codeExecutionResult', 'text'])
  expect(contentsOf(server, 1).slice(1)).toEqual([
    { role: 'model', parts: [{ text: '```python\nprint(6 * 7)\n```' }] },
    { role: 'user', parts: [{ text: 'The code ran and printed:\n```tool_output\n42\n```' }] },
  ])
})

describe('the runner with Gemini', () => {
  test('rejects a missing API key when the runner is built', () => {
    for (const name of ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI']) vi.stubEnv(name, undefined)
    const agent = new LlmAgent({ name: 'assistant', model: 'gemini-2.5-flash' })
    expect(() => new Runner({ appName: 'app', agent, models: { 'gemini-*': gemini } })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining('GEMINI_API_KEY') }),
    )
    vi.stubEnv('GEMINI_API_KEY', 'any-key')
    expect(() => new Runner({ appName: 'app', agent, models: { 'gemini-*': gemini } })).not.toThrow()
    vi.unstubAllEnvs()
  })

  test('retries an overloaded server', async () => {
    const { whole, failed, server } = await runScript([{ fault: { type: 'status', status: 503 } }, 'Hello.'])
    expect([whole.length, failed, server.requests.length]).toEqual([1, undefined, 2])
  })

  test('records MODEL_ERROR for a truncated reply, and the session accepts the next message', async () => {
    await using server = await geminiServer([
      { chunks: ['Hel', 'lo'], fault: { type: 'cut', after: 1 } },
      'Here again.',
    ])
    const runner = runnerFor(server)
    const first = await runner.complete({ userId: 'ada', message: 'Hi', runConfig: { streaming: true } })
    expect(first.error).toEqual({ code: 'MODEL_ERROR', message: expect.stringContaining('was cut off') })
    const second = await runner.complete({ userId: 'ada', sessionId: first.sessionId, message: 'Hello?' })
    expect(second.text).toBe('Here again.')
    expect(contentsOf(server, 1).map(({ parts }) => parts[0]?.text)).toEqual(['Hi', 'Hello?'])
  })

  test.each([false, true])(
    'retries an empty reply after a tool result once, then fails the run (streaming: %s)',
    async (streaming) => {
      const call = { calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] }
      const once = await runScript([call, { parts: [] }, 'Cold.'], {}, streaming)
      expect([once.failed, once.server.requests.length]).toEqual([undefined, 3])
      const twice = await runScript([call, { parts: [] }, { parts: [] }, 'never'], {}, streaming)
      expect(twice.failed).toMatchObject({
        errorCode: 'MODEL_ERROR',
        errorMessage: expect.stringContaining('sent an empty reply'),
      })
      expect(twice.server.requests).toHaveLength(3)
    },
  )

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE'])(
    'passes %s to onModelError of plugins and of the agent, which may answer',
    async (finishReason) => {
      await using server = await geminiServer([{ finishReason }, { finishReason }, { finishReason }, { finishReason }])
      const seen: unknown[] = []
      const plugins = [{ name: 'watch', onModelError: ({ error }: { error: unknown }) => void seen.push(error) }]
      const failed = await runnerFor(server, {}, { plugins }).complete({ userId: 'ada', message: 'Hi' })
      expect(failed.error).toEqual({ code: 'MODEL_ERROR', message: expect.stringContaining(finishReason) })
      const onModelError: LlmAgentOptions['onModelError'] = ({ error }) => {
        seen.push(error)
        return { content: { role: 'model', parts: [{ text: 'Say that again?' }] } }
      }
      const answered = await runnerFor(server, { onModelError }, { plugins }).complete({ userId: 'ada', message: 'Hi' })
      expect([answered.text, answered.error]).toEqual(['Say that again?', undefined])
      expect(seen).toMatchObject([{ reason: finishReason }, { reason: finishReason }, { reason: finishReason }])
      server.assertComplete()
    },
  )

  describe.each([false, true])('MAX_TOKENS (streaming: %s)', (streaming) => {
    const pay = (ran: unknown[]) => tool({ name: 'pay', description: 'Pay', run: (args) => void ran.push(args) })
    const cut = { calls: [{ name: 'pay', args: { amount: 1 } }], finishReason: 'MAX_TOKENS' }

    test('runs no call, suggests maxOutputTokens, and the session accepts the next message', async () => {
      await using server = await geminiServer([cut, 'Sorry.'])
      const ran: unknown[] = []
      const runner = runnerFor(server, { tools: [pay(ran)] })
      const runConfig = { streaming }
      const first = await runner.complete({ userId: 'ada', message: 'Pay.', runConfig })
      expect(first.error).toEqual({ code: 'MAX_TOKENS', message: expect.stringContaining('Raise maxOutputTokens') })
      const second = await runner.complete({ userId: 'ada', sessionId: first.sessionId, message: 'Well?', runConfig })
      expect([second.text, second.error, ran]).toEqual(['Sorry.', undefined, []])
    })

    test('keeps the truncated text', async () => {
      const { whole, failed } = await runScript([{ text: 'Once upon', finishReason: 'MAX_TOKENS' }], {}, streaming)
      expect(failed).toBeUndefined()
      expect(whole[0]).toMatchObject({ content: { parts: [{ text: 'Once upon' }] }, finishReason: 'MAX_TOKENS' })
    })
  })

  test('records MODEL_ERROR for a stream without a finish reason and does not run its call', async () => {
    for (const fault of [{ type: 'unfinished' }, { type: 'cut', after: 1 }] as const) {
      const ran: unknown[] = []
      const pay = tool({ name: 'pay', description: 'Pay', run: (args) => void ran.push(args) })
      const chunks = [[{ functionCall: { name: 'pay', args: {} } }], 'Paying.']
      const { failed } = await runScript([{ chunks, fault }, 'never'], { tools: [pay] }, true)
      expect(failed).toMatchObject({ errorCode: 'MODEL_ERROR', errorMessage: expect.stringContaining('cut off') })
      expect(ran).toEqual([])
    }
  })

  test('fails the run and closes the connection for a reply without an end', async () => {
    const { failed, server } = await runScript([{ fault: { type: 'endless' } }], {}, true)
    expect(failed).toMatchObject({ errorCode: 'MODEL_ERROR', errorMessage: expect.stringContaining('67108864 bytes') })
    expect(server.requests).toHaveLength(1)
  })

  test('records the block reason of a blocked prompt', async () => {
    const { failed } = await runScript([{ chunks: [{ promptFeedback: { blockReason: 'SAFETY' } }] }])
    expect(failed).toMatchObject({ errorCode: 'SAFETY', errorMessage: expect.stringContaining('safetySettings') })
  })

  test('shows a rejected key in no event and no log line', async () => {
    await using server = await geminiServer([], { apiKey: 'right' })
    const logger = recordingLogger()
    const { error } = await runnerFor(server, {}, { logger }).complete({ userId: 'ada', message: 'Hi' })
    expect(error?.message).toContain('GEMINI_API_KEY')
    expect(JSON.stringify([error, logger.lines])).not.toContain('any-key')
  })

  test('closes the connection when the run is cancelled', async () => {
    await using server = await geminiServer([{ chunks: ['Hel', 'lo'], fault: { type: 'hang', after: 1 } }])
    const run = runnerFor(server).run({ userId: 'ada', message: 'Hi', runConfig: { streaming: true } })
    for await (const event of run) if (event.partial) run.cancel()
    const { signal } = server.requests[0] ?? {}
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
    expect(signal?.aborted).toBe(true)
  })
})
