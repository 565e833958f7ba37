// Agents on AI SDK models: the real provider packages against a local server that speaks their formats.
import { anthropic } from '@ai-sdk/anthropic'
import { openai } from '@ai-sdk/openai'
import { type Event, InMemorySessionService, LlmAgent, type LlmAgentOptions, Runner, tool } from 'toolwright'
import { aiSdkProviderTool, type FromAiSdkOptions, fromAiSdk, fromAiSdkTools } from 'toolwright/ai-sdk'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  at,
  chat,
  claude,
  formatCases,
  formats,
  gemini,
  type ProviderFormat,
  responses,
} from '../../src/adapters/ai-sdk/providers.test-kit.ts'
import { openaiItems } from '../providers/openai-responses.ts'
import { ProviderServer, type Reply } from '../providers/provider-server.ts'
import { silentLogger } from './kit.ts'

const getWeather = tool({
  name: 'get_weather',
  description: 'The weather',
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => ({ city, temperature: city === 'Oslo' ? 2 : 19 }),
})
const options: FromAiSdkOptions = { maxRetries: 0, providerOptions: { openai: { store: false } } }
const who = { appName: 'app', userId: 'ada', sessionId: 's1' }
const oslo = { id: 'c1', name: 'get_weather', args: { city: 'Oslo' } }
const rome = { id: 'c2', name: 'get_weather', args: { city: 'Rome' } }

function runnerFor(
  format: ProviderFormat,
  server: ProviderServer,
  agent: Partial<LlmAgentOptions> = {},
  sessionService = new InMemorySessionService(),
): Runner {
  const model = fromAiSdk(format.model(server.url), options)
  const made = new LlmAgent({ name: 'agent', instruction: 'Be brief.', model, tools: [getWeather], ...agent })
  return new Runner({ appName: 'app', agent: made, sessionService, logger: silentLogger })
}

/** Copies the session to another process: only its JSON survives. */
async function restarted(sessionService: InMemorySessionService): Promise<InMemorySessionService> {
  const session = await sessionService.getSession(who)
  const other = new InMemorySessionService()
  const events: Event[] = JSON.parse(JSON.stringify(session?.events))
  await other.createSession({ ...who, events })
  return other
}

describe.each(formatCases)('the runner with $how,', ({ format, stream }) => {
  test('answers a message after two tool calls, and the next message after a restart', async () => {
    await using server = await ProviderServer.start([
      format.say({ thinking: 'Both.', signature: 'SIGNED', text: 'Let me look.', calls: [oslo, rome] }),
      format.say({ text: 'Rome is warmer.' }),
      format.say({ text: 'Oslo.' }),
    ])
    const before = new InMemorySessionService()
    const runConfig = { streaming: stream }
    const first = runnerFor(format, server, {}, before)
    const { text, error } = await first.complete({ ...who, message: 'Oslo or Rome?', runConfig })
    expect([text, error]).toEqual(['Rome is warmer.', undefined])
    const second = runnerFor(format, server, {}, await restarted(before))
    const { text: last } = await second.complete({ ...who, message: 'And the colder one?', runConfig })
    expect(last).toBe('Oslo.')
    const sent = JSON.stringify(server.requests[2]?.body)
    for (const word of ['Be brief.', 'Oslo or Rome?', 'c1', 'c2', 'Rome is warmer.', 'And the colder one?'])
      expect(sent).toContain(word)
    if (format !== chat) expect(sent).toContain('SIGNED')
  })

  test('returns structured output from an agent with tools', async () => {
    const outputSchema = z.object({ city: z.string() })
    await using server = await ProviderServer.start([
      format.say({ calls: [oslo] }),
      format.say({ text: '{"city":"Oslo"}' }),
    ])
    const runner = runnerFor(format, server, { outputSchema, outputKey: 'answer' })
    const { text, error } = await runner.complete({ ...who, message: 'Which?', runConfig: { streaming: stream } })
    expect([text, error]).toEqual(['{"city":"Oslo"}', undefined])
    expect((await runner.sessionService.getSession(who))?.state).toEqual({ answer: { city: 'Oslo' } })
  })
})

test.each([chat, responses])(
  'the runner with $name answers INVALID_ARGS for a call with truncated arguments and does not run the tool',
  async (format) => {
    const wiped: unknown[] = []
    const wipe = tool({
      name: 'wipe',
      description: 'Wipes a folder, or everything',
      parameters: z.object({ path: z.string().optional() }),
      run: (args) => {
        wiped.push(args)
        return { ok: true }
      },
    })
    await using server = await ProviderServer.start([
      format.say({ calls: [{ id: 'c1', name: 'wipe', raw: '{"path": "/tm' }] }),
      format.say({ calls: [{ id: 'c2', name: 'wipe', args: { path: '/tmp' } }] }),
      format.say({ text: 'Wiped.' }),
    ])
    const { text, events } = await runnerFor(format, server, { tools: [wipe] }).complete({
      ...who,
      message: 'Wipe it.',
    })
    const answers = events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [])
    expect(answers.map(({ response }) => response)).toMatchObject([{ errorCode: 'INVALID_ARGS' }, { ok: true }])
    expect(wiped).toEqual([{ path: '/tmp' }])
    expect(text).toBe('Wiped.')
  },
)

test('the runner yields deltas before the complete reply and stores only the complete reply', async () => {
  await using server = await ProviderServer.start([
    claude.say({ thinking: 'Hm.', signature: 'S', text: 'It is cold.' }),
  ])
  const runner = runnerFor(claude, server)
  const events: Event[] = []
  for await (const event of runner.run({ ...who, message: 'Oslo?', runConfig: { streaming: true } })) events.push(event)
  const deltas = events.filter(({ partial }) => partial).flatMap(({ content }) => content?.parts ?? [])
  expect(deltas.filter(({ thought }) => !thought).map(({ text }) => text)).toEqual(['It i', 's co', 'ld.'])
  expect(events.filter(({ partial }) => !partial)).toHaveLength(1)
  expect((await runner.sessionService.getSession(who))?.events).toHaveLength(2)
})

test('the runner lets two providers take turns in one session', async () => {
  await using server = await ProviderServer.start([
    claude.say({ thinking: 'Hm.', signature: 'SIGNED', calls: [oslo] }),
    claude.say({ text: 'Two degrees.' }),
    gemini.say({ text: 'As I said.' }),
    claude.say({ text: 'Two.' }),
  ])
  const sessionService = new InMemorySessionService()
  const ask = async (format: ProviderFormat, message: string): Promise<string> =>
    (await runnerFor(format, server, {}, sessionService).complete({ ...who, message })).text
  expect(await ask(claude, 'Oslo?')).toBe('Two degrees.')
  expect(await ask(gemini, 'Sure?')).toBe('As I said.')
  expect(await ask(claude, 'Again?')).toBe('Two.')
  expect(at(server.requests[3]?.body, 'messages', 1, 'content', 0)).toMatchObject({ signature: 'SIGNED' })
})

test("the runner does not dispatch a provider's web search and sends the search back after a restart", async () => {
  const action = { type: 'search', query: 'oslo', sources: [{ type: 'url', url: 'https://yr.no' }] }
  const content = [{ type: 'output_text', text: 'Cold.', annotations: [] }]
  const searched: Reply = openaiItems(
    [
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action },
      { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content },
    ],
    { input_tokens: 1, output_tokens: 1 },
  )
  await using server = await ProviderServer.start([searched, responses.say({ text: 'Still cold.' })])
  const before = new InMemorySessionService()
  const tools = [getWeather, aiSdkProviderTool(openai.tools.webSearch({}))]
  const { text, events } = await runnerFor(responses, server, { tools }, before).complete({ ...who, message: 'Oslo?' })
  expect(text).toBe('Cold.')
  expect(events).toHaveLength(1)
  expect(events[0]?.groundingMetadata).toEqual({ groundingChunks: [{ web: { uri: 'https://yr.no' } }] })
  expect(server.requests[0]?.body.tools).toMatchObject([{ type: 'function' }, { type: 'web_search' }])
  await runnerFor(responses, server, { tools }, await restarted(before)).complete({ ...who, message: 'And now?' })
  expect(JSON.stringify(server.requests[1]?.body.input)).toContain('ws_1')
})

test('the runner declares a provider-defined tool by its provider type and runs its execute function', async () => {
  const call = { id: 'c1', name: 'bash', args: { command: 'ls' } }
  await using server = await ProviderServer.start([claude.say({ calls: [call] }), claude.say({ text: 'Two files.' })])
  const bash = anthropic.tools.bash_20250124({ execute: async ({ command }) => `ran ${command}` })
  const { text } = await runnerFor(claude, server, { tools: fromAiSdkTools({ bash }) }).complete({
    ...who,
    message: 'Files?',
  })
  expect(text).toBe('Two files.')
  expect(server.requests[0]?.body.tools).toEqual([{ type: 'bash_20250124', name: 'bash' }])
  expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('ran ls')
})

test.each(formats)(
  "the runner with $name ends the run with the provider's error message, and the next run succeeds",
  async (format) => {
    const refused: Reply = {
      status: 400,
      json: { type: 'error', error: { type: 'x', code: 400, message: 'Too long.', status: 'X' } },
    }
    await using server = await ProviderServer.start([refused, format.say({ text: 'Fine.' })])
    const runner = runnerFor(format, server)
    const { error } = await runner.complete({ ...who, message: 'Oslo?' })
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringMatching(/\(400\): Too long\.$/) })
    expect((await runner.complete({ ...who, message: 'Oslo?' })).text).toBe('Fine.')
  },
)

test('the runner closes the provider connection when the run is cancelled', async () => {
  await using server = await ProviderServer.start([{ events: [' '], ending: 'hold' }])
  const runner = runnerFor(chat, server)
  const running = runner.complete({ ...who, message: 'Oslo?' })
  await server.waitForRequests(1)
  await runner.cancel(who)
  expect((await running).error).toMatchObject({ code: 'CANCELLED' })
  await server.requests[0]?.closed
})
