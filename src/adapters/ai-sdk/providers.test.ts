// The behaviour of every provider package, with a local server that speaks its format.
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { ProviderServer, type Reply, truncateAfter } from '../../../test/providers/provider-server.ts'
import type { Ports } from '../../core/base/ports.ts'
import { type Content, type Part, textOf } from '../../core/content/content.ts'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../engine/runner/runner.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { AiSdkError } from './errors/ai-sdk-error.ts'
import { fromAiSdk } from './from-ai-sdk.ts'
import { ask, type ProviderCase, providers, request, user } from './providers.test-kit.ts'

const PNG = 'iVBORw0KGgo='
const oslo = { id: 'callnr001', name: 'get_weather', args: { city: 'Oslo' } }
const quiet = { warn: () => {}, error: () => {} }
/** Timers that fire immediately. */
const setTimer: Ports['setTimer'] = (callback) => {
  queueMicrotask(callback)
  return () => {}
}

function weather(ran: string[] = [], name = 'get_weather'): Tool {
  return tool({
    name,
    description: 'The weather',
    parameters: z.object({ city: z.string() }),
    effect: 'none',
    run: ({ city }) => {
      ran.push(city)
      return { city, temperature: 2 }
    },
  })
}

function runnerFor(provider: ProviderCase, server: ProviderServer, tools: readonly Tool[], maxRetries = 0): Runner {
  const model = fromAiSdk(provider.model(server.url), { maxRetries, ports: { setTimer } })
  return new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [...tools] }), logger: quiet })
}

const bodyOf = (server: ProviderServer, at: number): string => JSON.stringify(server.requests[at]?.body)

describe.each(providers)('fromAiSdk() with $name', (provider) => {
  test.each([false, true])('returns a text (streamed: %s)', async (stream) => {
    await using server = await ProviderServer.start([provider.say({ text: 'It is cold in Oslo.' })])
    const { whole, partial } = await ask(fromAiSdk(provider.model(server.url)), request([user('Oslo?')]), { stream })
    expect(textOf(whole.content)).toBe('It is cold in Oslo.')
    expect(whole).toMatchObject({ finishReason: 'STOP', turnComplete: true })
    expect(partial.map(({ content }) => textOf(content)).join('')).toBe(stream ? 'It is cold in Oslo.' : '')
  })

  test.each([false, true])('calls a tool and reads its result (streamed: %s)', async (streaming) => {
    await using server = await ProviderServer.start([
      provider.say({ calls: [oslo] }),
      provider.say({ text: 'Two degrees.' }),
    ])
    const ran: string[] = []
    const runner = runnerFor(provider, server, [weather(ran)])
    const { text, error } = await runner.complete({ userId: 'ada', message: 'Oslo?', runConfig: { streaming } })
    expect(error).toBeUndefined()
    expect([text, ran]).toEqual(['Two degrees.', ['Oslo']])
    expect(bodyOf(server, 1).replaceAll('\\', '')).toContain('"temperature":2')
  })

  test.each([false, true])('returns structured output (streamed: %s)', async (streaming) => {
    const answer = { city: 'Oslo', days: [{ celsius: 2 }] }
    const structured = provider.sendsNoSchema
      ? [
          provider.say({ text: '{"town":"Oslo"}' }),
          provider.say({ calls: [{ ...oslo, name: 'set_model_response', args: answer }] }),
        ]
      : [asBedrock(provider, answer) ?? provider.say({ text: JSON.stringify(answer) })]
    await using server = await ProviderServer.start([...structured, ...structured.slice(-1)])
    const outputSchema = z.object({ city: z.string(), days: z.array(z.object({ celsius: z.number() })) })
    const model = fromAiSdk(provider.model(server.url), { maxRetries: 0 })
    const agent = new LlmAgent({ name: 'agent', model, outputSchema, outputKey: 'answer' })
    const runner = new Runner({ appName: 'app', agent, logger: quiet })
    const first = await runner.complete({ userId: 'ada', message: 'Oslo?', runConfig: { streaming } })
    expect(first.error).toBeUndefined()
    expect(JSON.parse(first.text)).toEqual(answer)
    const sent = bodyOf(server, structured.length - 1).replaceAll('\\', '')
    expect(sent).toContain('"celsius"')
    // the next request already knows what the provider supports
    const second = await runner.complete({ userId: 'ada', message: 'Oslo?', runConfig: { streaming } })
    expect(JSON.parse(second.text)).toEqual(answer)
    expect(server.requests).toHaveLength(structured.length + 1)
    if (/"strict":true/.test(sent)) expect(sent.match(/"additionalProperties":false/g)).toHaveLength(2)
  })

  test.each(['image/png', 'application/pdf', 'application/x-odd'])(
    'sends the media of a result: %s',
    async (mimeType) => {
      await using server = await ProviderServer.start([
        provider.say({ text: 'Seen.' }),
        provider.say({ text: 'Seen.' }),
      ])
      const media: Part = { inlineData: { mimeType, data: PNG, displayName: 'drawing' } }
      const history: Content[] = [
        user('Draw.'),
        { role: 'model', parts: [{ functionCall: { id: 'callnr001', name: 'draw', args: {} } }] },
        {
          role: 'tool',
          parts: [{ functionResponse: { id: 'callnr001', name: 'draw', response: { ok: true } } }, media],
        },
      ]
      const model = fromAiSdk(provider.model(server.url), { maxRetries: 0 })
      const tools = [{ functionDeclarations: [{ name: 'draw', description: 'Draws' }] }]
      for (const stream of [false, true]) {
        const { whole } = await ask(model, request(history, { tools }), { stream })
        expect(textOf(whole.content)).toBe('Seen.')
      }
      expect(server.requests).toHaveLength(2)
      for (const at of [0, 1]) {
        const sent = bodyOf(server, at)
        expect(sent.includes(PNG) || sent.includes(`(${mimeType}, about 9 bytes)`)).toBe(true)
        // base64 bytes in a text would be read as words
        expect(sent).not.toMatch(/\\"data\\":\\"iVBOR/)
        if (mimeType === 'image/png') expect(sent).toContain(PNG)
        const isBeside = sent.includes('returned this media with its result')
        if (mimeType === 'image/png') expect(isBeside).toBe(!provider.imagesInResults)
      }
    },
  )

  test.each(['end', 'break'] as const)('reports a text that is cut off (%s)', async (ending) => {
    const cut = truncateAfter(provider.say({ text: 'It is very cold.' }), 'It i', { ending })
    await using server = await ProviderServer.start([cut, provider.say({ text: 'Again.' })])
    const runner = runnerFor(provider, server, [], 2)
    const { error } = await runner.complete({ userId: 'ada', message: 'Oslo?', runConfig: { streaming: true } })
    expect(error?.code).toBe('MODEL_ERROR')
    expect(error?.message).toMatch(/cut off|finish reason/)
    expect(server.requests).toHaveLength(1)
  })

  test('runs no tool when the reply is cut off after its call', async () => {
    const turn = { text: 'Let me look.', calls: [oslo] }
    const cut = truncateAfter(provider.say(turn), callEnd(provider), {})
    await using server = await ProviderServer.start([cut])
    const ran: string[] = []
    const runner = runnerFor(provider, server, [weather(ran)])
    const { error } = await runner.complete({ userId: 'ada', message: 'Oslo?', runConfig: { streaming: true } })
    expect(error?.code).toBe('MODEL_ERROR')
    expect(ran).toEqual([])
  })

  test('runs no tool when the reply is cut off inside its call', async () => {
    if (provider.wholeCalls) return
    const cut = truncateAfter(provider.say({ text: 'Let me look.', calls: [oslo] }), '{\\"ci', {})
    await using server = await ProviderServer.start([cut])
    const ran: string[] = []
    const runner = runnerFor(provider, server, [weather(ran)])
    const { error } = await runner.complete({ userId: 'ada', message: 'Oslo?', runConfig: { streaming: true } })
    expect(error?.code).toBe('MODEL_ERROR')
    expect(ran).toEqual([])
  })

  test('retries a stream that is cut off before its first delta', async () => {
    const { frame, headers } = sentBy(provider.say({ text: 'x' }))
    const nothing: Reply = { events: [], ...(frame && { frame }), ...(headers && { headers }) }
    await using server = await ProviderServer.start([nothing, provider.say({ text: 'Again.' })])
    const model = fromAiSdk(provider.model(server.url), { ports: { setTimer } })
    const { whole } = await ask(model, request([user('?')]), { stream: true })
    expect(textOf(whole.content)).toBe('Again.')
    expect(server.requests).toHaveLength(2)
  })

  test('reports an error in the stream and does not retry after the first delta', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {}) // a provider that prints
    const turn = { text: 'It is cold.', calls: [oslo] }
    const events = [provider.error]
    await using server = await ProviderServer.start([
      truncateAfter(provider.say(turn), 'It i', { events }),
      { ...sentBy(provider.say(turn)), events },
      provider.say({ text: 'Again.' }),
    ])
    const model = fromAiSdk(provider.model(server.url), { ports: { setTimer } })
    const asked = request([user('My secret plan')])
    const failure = await ask(model, asked, { stream: true }).catch((error) => error)
    expect(failure).toBeInstanceOf(AiSdkError)
    expect(inspect(failure, { depth: 9 })).not.toContain('secret plan')
    if (!provider.hidesErrors) expect(failure.message).toContain('The server had an error')
    expect(server.requests).toHaveLength(1)
    const { whole } = await ask(model, request([user('?')]), { stream: true })
    expect(textOf(whole.content)).toBe('Again.')
    expect(server.requests).toHaveLength(3)
    warn.mockRestore()
  })

  test.each([false, true])(
    'renames tools whose names the provider does not accept (streamed: %s)',
    async (streaming) => {
      const long = `weather.${'x'.repeat(100)}`
      const names = ['weather.get:now', 'weather_get_now', 'weather:get.now', long]
      const sent = ['weather_get_now_2', 'weather_get_now', 'weather_get_now_3', `weather_${'x'.repeat(56)}`]
      const calls = sent.map((name, at) => ({ ...oslo, id: `callnr00${at}`, name }))
      await using server = await ProviderServer.start([provider.say({ calls }), provider.say({ text: 'Fine.' })])
      const ran: string[] = []
      const tools = names.map((name) => weatherBy(name, ran))
      const runner = runnerFor(provider, server, tools)
      const { events, error } = await runner.complete({ userId: 'ada', message: '?', runConfig: { streaming } })
      expect(error).toBeUndefined()
      expect(ran.toSorted()).toEqual(names.toSorted())
      const logged = events.filter(({ partial }) => !partial).flatMap(({ content }) => content?.parts ?? [])
      expect(logged.flatMap(({ functionCall }) => functionCall?.name ?? [])).toEqual(names)
      expect(logged.flatMap(({ functionResponse }) => functionResponse?.name ?? [])).toEqual(names)
      for (const at of [0, 1]) {
        const body = bodyOf(server, at)
        for (const name of sent) expect(body).toContain(`"${name}"`)
        for (const name of ['weather.get:now', 'weather:get.now', long]) expect(body).not.toContain(`"${name}"`)
      }
    },
  )

  test('accepts parameters whose root is a union or a reference', async () => {
    await using server = await ProviderServer.start([provider.say({ text: 'Fine.' })])
    const byCity = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const byPlace = { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] }
    const roots = {
      one: { oneOf: [byCity, byPlace] },
      any: { anyOf: [byCity, byPlace] },
      all: { allOf: [byCity, byPlace] },
      ref: { $ref: '#/$defs/byCity', $defs: { byCity } },
    }
    const functionDeclarations = Object.entries(roots).map(([name, parametersJsonSchema]) => ({
      name,
      description: name,
      parametersJsonSchema,
    }))
    await ask(fromAiSdk(provider.model(server.url)), request([user('?')], { tools: [{ functionDeclarations }] }))
    const body = bodyOf(server, 0)
    expect(body).not.toMatch(/"(oneOf|allOf|anyOf|\$ref)"/)
    expect(body.match(/"city":\{"type":"(string|STRING)"/g)?.length).toBeGreaterThanOrEqual(4)
  })
})

function weatherBy(name: string, ran: string[]): Tool {
  const parameters = z.object({ city: z.string() })
  return tool({ name, description: 'The weather', parameters, effect: 'none', run: () => void ran.push(name) })
}

/** Text of the event that completes the call but not the reply. */
function callEnd({ name }: ProviderCase): string {
  const ends: Record<string, string> = {
    'openai responses': '"arguments":"{\\"city',
    'xai responses': '"arguments":"{\\"city',
    bedrock: '"contentBlockStop":{"contentBlockIndex":1}',
    cohere: '"tool-call-end"',
    anthropic: '"content_block_stop","index":1',
    google: '"functionCall"',
    ollama: '"tool_calls"',
    'xai chat': '"tool_calls"',
  }
  return ends[name] ?? 'o\\"}'
}

/** Bedrock returns structured output as a call of its own tool. */
function asBedrock({ name, say }: ProviderCase, answer: object): Reply | undefined {
  return name === 'bedrock' ? say({ calls: [{ id: 'j1', name: 'json', args: { ...answer } }] }) : undefined
}

/** The reply that a server sends, resolved if it depends on the request. */
function sentBy(reply: Reply) {
  const asked = { path: '', headers: {}, body: {}, isStream: true, closed: Promise.resolve() }
  return typeof reply === 'function' ? reply(asked) : reply
}
