// fallback(): a chain of models in a run, with the real Gemini client and real AI SDK providers against local servers.
import {
  FallbackError,
  type FallbackOptions,
  fallback,
  googleSearch,
  InMemorySessionService,
  LlmAgent,
  type LlmAgentOptions,
  Runner,
  type RunnerOptions,
  tool,
} from 'toolwright'
import { fromAiSdk } from 'toolwright/ai-sdk'
import { type GeminiOptions, gemini } from 'toolwright/gemini'
import { type GeminiScript, type GeminiServer, geminiServer } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chat, type ProviderFormat } from '../../src/adapters/ai-sdk/providers.test-kit.ts'
import { ProviderServer, type Reply } from '../providers/provider-server.ts'
import { silentLogger } from './kit.ts'
import { providerFormats } from './sent-requests.ts'

const unavailable = { fault: { type: 'status', status: 503, message: 'Overloaded.' } } as const
const once = { retry: { attempts: 1 } } satisfies GeminiOptions
const down: Reply = { status: 500, json: { error: { message: 'Out of order.' } } }

const getWeather = tool({
  name: 'get_weather',
  description: 'The weather',
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => ({ city, temperature: city === 'Oslo' ? 2 : 19 }),
})

interface Stage {
  readonly google: GeminiServer
  readonly other: ProviderServer
  runner(agent?: Partial<LlmAgentOptions>, options?: FallbackOptions, more?: Partial<RunnerOptions>): Runner
}

/** Gemini first, then a model of another provider. */
async function staged(
  script: GeminiScript,
  replies: readonly Reply[],
  play: (stage: Stage) => Promise<void>,
  {
    format = chat,
    name = 'gemini-2.5-flash',
    ports,
  }: { format?: ProviderFormat; name?: string; ports?: Parameters<typeof fallback>[2] } = {},
): Promise<void> {
  await using google = await geminiServer(script)
  await using other = await ProviderServer.start(replies)
  const first = gemini(name, { apiKey: 'any-key', baseUrl: google.url, ...once })
  const second = fromAiSdk(format.model(other.url), { maxRetries: 0, providerOptions: { openai: { store: false } } })
  const runner: Stage['runner'] = (agent, options, more) => {
    const model = fallback([first, second], options, ports)
    const made = new LlmAgent({ name: 'agent', model, tools: [getWeather], ...agent })
    return new Runner({ appName: 'app', agent: made, logger: silentLogger, ...more })
  }
  await play({ google, other, runner })
}

const ada = { userId: 'ada', message: 'Hi' }

describe('when the first model fails before its first delta,', () => {
  test.each([false, true])('the second model replies and the event records the fallback (streaming: %s)', (streaming) =>
    staged([unavailable], [chat.say({ text: 'Hello.' })], async ({ google, other, runner }) => {
      const sessionService = new InMemorySessionService()
      const made = runner({}, {}, { sessionService })
      const { text, error, sessionId, events } = await made.complete({
        ...ada,
        runConfig: { streaming, maxLlmCalls: 1 },
      })
      expect([text, error]).toEqual(['Hello.', undefined])
      expect(events.filter(({ partial, fallback: record }) => partial && record)).toEqual([])
      const session = await sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
      expect(session?.events.at(-1)).toMatchObject({
        fallback: {
          model: 'gpt-4.1',
          from: [
            {
              model: 'gemini-2.5-flash',
              code: 'UNAVAILABLE',
              message: 'Gemini failed (503 UNAVAILABLE: Overloaded.)',
            },
          ],
        },
        usageMetadata: { promptTokenCount: 12, totalTokenCount: 20 },
      })
      expect([google.requests.length, other.requests.length]).toEqual([1, 1])
      expect(google.requests[0]?.model).toBe('gemini-2.5-flash')
    }),
  )

  test('the next model call starts with the first model again', () =>
    staged(
      [unavailable, 'Two degrees.'],
      [chat.say({ calls: [{ id: 'c1', name: 'get_weather', args: { city: 'Oslo' } }] })],
      async ({ google, runner }) => {
        const { text, events } = await runner().complete(ada)
        expect(text).toBe('Two degrees.')
        expect(events.map((event) => event.fallback?.model)).toEqual(['gpt-4.1', undefined, undefined])
        expect(google.requests).toHaveLength(2)
      },
    ))

  test('with an empty reply: the second model replies', () =>
    staged([{ parts: [] }], [chat.say({ text: 'Hello.' })], async ({ runner }) => {
      const { text, events } = await runner().complete(ada)
      expect(text).toBe('Hello.')
      expect(events[0]?.fallback?.from).toMatchObject([{ code: 'STOP', message: expect.stringContaining('no text') }])
    }))

  test('with a rejected key: the second model is asked only when `when` returns true', async () => {
    const refused = { fault: { type: 'status', status: 403 } } as const
    await staged([refused], [], async ({ other, runner }) => {
      const { error } = await runner().complete(ada)
      expect(error).toMatchObject({
        code: 'MODEL_ERROR',
        message: expect.stringMatching(/^Gemini rejected the API key/),
      })
      expect(other.requests).toEqual([])
    })
    const when = (error: unknown): boolean => (error as { status?: number }).status === 403
    await staged([refused], [chat.say({ text: 'Hello.' })], async ({ runner }) => {
      expect((await runner({}, { when }).complete(ada)).text).toBe('Hello.')
    })
  })
})

test('the runner fails the run and does not ask the second model when the first model fails after its first delta', () =>
  staged([{ chunks: ['Hel', 'lo'], fault: { type: 'cut', after: 1 } }], [], async ({ other, runner }) => {
    const { error, events } = await runner().complete({ ...ada, runConfig: { streaming: true } })
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('cut off') })
    expect(events.filter(({ partial }) => !partial).map(({ content }) => content)).toEqual([undefined])
    expect(other.requests).toEqual([])
  }))

test('the runner asks the second model and closes the first connection when the first model hangs', () => {
  const timers: (() => void)[] = []
  const setTimer = (callback: () => void) => {
    timers.push(callback)
    return () => {}
  }
  return staged(
    () => {
      queueMicrotask(() => timers[0]?.()) // the time of the first model is over; the second one has any time
      return { fault: { type: 'hang' } }
    },
    [chat.say({ text: 'Hello.' })],
    async ({ google, runner }) => {
      const { text, events } = await runner({}, { timeoutMs: 50 }).complete(ada)
      expect(text).toBe('Hello.')
      expect(events[0]?.fallback?.from).toMatchObject([{ model: 'gemini-2.5-flash', code: 'TIMEOUT' }])
      await connectionClosed(google)
    },
    { ports: { setTimer } },
  )
})

test.each([false, true])(
  'the runner does not ask the second model when the run is cancelled while the first model hangs (streaming: %s)',
  (streaming) =>
    staged(
      ({ signal }) => {
        expect(signal.aborted).toBe(false)
        queueMicrotask(() => stop.abort())
        return { fault: { type: 'hang' } }
      },
      [],
      async ({ google, other, runner }) => {
        stop = new AbortController()
        const { error } = await runner({}, { when: () => true, timeoutMs: 60_000 }).complete({
          ...ada,
          runConfig: { streaming },
          signal: stop.signal,
        })
        expect(error?.code).toBe('CANCELLED')
        expect(other.requests).toEqual([])
        await connectionClosed(google)
      },
    ),
)
let stop = new AbortController()

test("the runner ends the chain when the caller's signal times out", () =>
  staged([{ fault: { type: 'hang' } }], [], async ({ other, runner }) => {
    const { error } = await runner({}, { timeoutMs: 60_000 }).complete({ ...ada, signal: AbortSignal.timeout(50) })
    expect(error?.code).toBe('CANCELLED')
    expect(other.requests).toEqual([])
  }))

async function connectionClosed({ requests: [first] }: GeminiServer): Promise<void> {
  if (!first?.signal.aborted) await new Promise((resolve) => first?.signal.addEventListener('abort', resolve))
}

describe('when all models fail,', () => {
  test('the run fails with an error that names every model', () =>
    staged([unavailable], [down], async ({ runner }) => {
      const { error } = await runner().complete(ada)
      expect(error).toEqual({
        code: 'MODEL_ERROR',
        message:
          'All 2 models failed. "gemini-2.5-flash": Gemini failed (503 UNAVAILABLE: Overloaded.) | "gpt-4.1": openai.chat failed (500): Out of order.',
      })
    }))

  test('onModelError of plugins and of the agent gets the error and may answer', async () => {
    await staged([unavailable, unavailable], [down, down], async ({ runner }) => {
      const seen: unknown[] = []
      const plugin = { name: 'watch', onModelError: ({ error }: { error: unknown }) => void seen.push(error) }
      const onModelError: LlmAgentOptions['onModelError'] = ({ error }) => {
        seen.push(error)
        return { content: { role: 'model', parts: [{ text: 'Please come back later.' }] } }
      }
      const { text, error } = await runner({ onModelError }, {}, { plugins: [plugin] }).complete(ada)
      expect([text, error]).toEqual(['Please come back later.', undefined])
      expect(seen).toHaveLength(2)
      expect(seen.every((one) => one instanceof FallbackError && one.models.length === 2)).toBe(true)
    })
  })
})

test('the runner lets a plugin change the messages in the fallback record', () =>
  staged([unavailable], [chat.say({ text: 'Hello.' })], async ({ runner }) => {
    const plugin: NonNullable<RunnerOptions['plugins']>[number] = {
      name: 'hide',
      onEvent: ({ event }) =>
        event.fallback && {
          ...event,
          fallback: { ...event.fallback, from: event.fallback.from.map((one) => ({ ...one, message: '-' })) },
        },
    }
    const { events } = await runner({}, {}, { plugins: [plugin] }).complete(ada)
    expect(events[0]?.fallback).toEqual({
      model: 'gpt-4.1',
      from: [{ model: 'gemini-2.5-flash', code: 'UNAVAILABLE', message: '-' }],
    })
  }))

describe('a chain of models', () => {
  test('uses set_model_response when one model does not support tools with an output schema', () => {
    const outputSchema = z.object({ warm: z.boolean() })
    const calls = [{ id: 'c1', name: 'set_model_response', args: { warm: false } }]
    return staged([unavailable], [chat.say({ calls })], async ({ google, other, runner }) => {
      const { text, error } = await runner({ outputSchema }).complete(ada)
      expect([text, error]).toEqual(['{"warm":false}', undefined])
      for (const body of [google.requests[0]?.body, other.requests[0]?.body]) {
        expect(JSON.stringify(body)).toContain('set_model_response')
        expect(JSON.stringify(body)).not.toMatch(/response_format|responseJsonSchema/)
      }
    })
  })

  test('rejects, when the runner is built, a server-side tool that one of its models does not support', () =>
    staged([], [], async ({ runner }) => {
      expect(() => runner({ tools: [googleSearch()] })).toThrow(
        /"fallback\(gemini-2\.5-flash, gpt-4\.1\)" does not support googleSearch/,
      )
    }))
})

describe.each(providerFormats)('a history of Gemini and $name', ({ format, read, problems }) => {
  test.each([
    ['gemini-2.5-flash', false],
    ['gemini-2.5-flash', true],
    ['gemini-3-pro-preview', false],
    ['gemini-3-pro-preview', true],
  ])('is accepted by both providers: %s, streaming: %s', (name, streaming) => {
    const thoughtSignature = 'c2lnbmVk'
    return staged(
      [
        {
          parts: [
            { text: 'Oslo first.', thought: true },
            { text: 'Let me look.', thoughtSignature },
          ],
          calls: [{ name: 'get_weather', args: { city: 'Oslo' }, thoughtSignature }],
        },
        unavailable,
        { parts: [{ text: 'Rome is warmer.' }, { text: '', thoughtSignature }] },
        unavailable,
      ],
      [
        format.say({
          thinking: 'Now Rome.',
          signature: 'U0lHTkVE',
          text: 'And Rome.',
          calls: [{ id: 'call_1', name: 'get_weather', args: { city: 'Rome' } }],
        }),
        format.say({ thinking: 'Polite.', signature: 'U0lHTkVE', text: 'You are welcome.' }),
      ],
      async ({ google, other, runner }) => {
        const made = runner()
        const first = await made.complete({ ...ada, runConfig: { streaming } })
        expect([first.text, first.error]).toEqual(['Rome is warmer.', undefined])
        const { sessionId } = first
        const second = await made.complete({ ...ada, sessionId, message: 'Thanks.', runConfig: { streaming } })
        expect([second.text, second.error]).toEqual(['You are welcome.', undefined])
        google.assertComplete() // the local server rejects what Gemini rejects
        expect(other.requests.map(({ body }) => problems(read(body as never)))).toEqual([[], []])
        for (const { body } of [google.requests[2], other.requests[1]].flatMap((one) => one ?? [])) {
          for (const words of ['Oslo', 'Rome', 'temperature']) expect(JSON.stringify(body)).toContain(words)
        }
      },
      { format, name },
    )
  })
})
