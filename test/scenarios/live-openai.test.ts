// Live sessions with OpenAI Realtime: the same tools, gates and log on another transport.
import { background, LlmAgent, Runner, tool } from 'toolwright'
import { connectLive, isTrue, type LiveOptions, type LiveSession, openaiRealtime } from 'toolwright/live'
import { type OpenAiRealtimeConnection, openaiRealtimeServer, scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { collect, type LiveTest } from './live-kit.ts'

const getWeather = tool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => ({ city, temperature: 22 }),
})

interface RealtimeTest extends Pick<LiveTest, 'events' | 'event'> {
  readonly session: LiveSession
  readonly connection: OpenAiRealtimeConnection
  readonly server: Awaited<ReturnType<typeof openaiRealtimeServer>>
}

async function start(options: Partial<LiveOptions<LiveSession>>): Promise<RealtimeTest> {
  const server = await openaiRealtimeServer()
  onTestFinished(() => server.close())
  const model = openaiRealtime('gpt-realtime', { apiKey: 'sk-test-123', baseUrl: server.url })
  const session = await connectLive({ model, reconnect: { delayMs: 1 }, ...options })
  onTestFinished(() => session.close())
  return { session, server, connection: await server.nextConnection(), ...collect(session) }
}

/** The output of the next function call that the session answers. */
async function nextOutput(connection: OpenAiRealtimeConnection): Promise<unknown> {
  for (;;) {
    const { item } = (await connection.next('conversation.item.create')) as { item: { type: string; output?: string } }
    if (item.type === 'function_call_output') return JSON.parse(item.output ?? '')
  }
}

test('runs a tool call and records the conversation', async () => {
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['Warm.']), tools: [getWeather] })
  const runner = new Runner({ appName: 'desk', agent })
  const { session, connection, event, server } = await start({ runner, userId: 'ada' })
  await session.send('How warm is it in Oslo?')
  await connection.next('response.create')
  connection.call('get_weather', { args: { city: 'Oslo' } })
  connection.finish()
  expect(await nextOutput(connection)).toEqual({ city: 'Oslo', temperature: 22 })
  await connection.next('response.create')
  connection.speak(new Uint8Array(480), 'It is 22 degrees.')
  connection.finish()
  await event('turnComplete')
  const { sessionId } = session
  await session.close()
  expect(server.problems).toEqual([])
  const { text } = await runner.complete({ userId: 'ada', sessionId, message: 'And now?' })
  expect(text).toBe('Warm.')
  const stored = await runner.sessionService.getSession({ appName: 'desk', userId: 'ada', sessionId })
  const said = stored?.events.flatMap(({ content }) => content?.parts.map((part) => part.text ?? '') ?? [])
  expect(said?.filter(Boolean)).toEqual(['How warm is it in Oslo?', 'It is 22 degrees.', 'And now?', 'Warm.'])
})

test('tells the model the result of a background call as a message, because a call has one output', async () => {
  const { session, connection, server } = await start({ tools: [background(getWeather)] })
  await session.send('Weather?')
  await connection.next('response.create')
  connection.call('get_weather', { args: { city: 'Oslo' } })
  connection.finish()
  expect(await nextOutput(connection)).toEqual({ status: 'running', tool: 'get_weather' })
  await connection.next('response.create')
  connection.say('I am looking.')
  connection.finish()
  const { item } = (await connection.next('conversation.item.create')) as { item: unknown }
  expect(JSON.stringify(item)).toContain('22')
  expect(server.problems).toEqual([])
})

test('stops the reply for the result of a background call with INTERRUPT', async () => {
  const done = Promise.withResolvers<void>()
  const search = tool({ name: 'search', description: 'Searches', run: () => done.promise.then(() => ({ hits: 3 })) })
  const { session, connection, server, event } = await start({
    tools: [background(search, { scheduling: 'INTERRUPT' })],
  })
  await session.send('Search.')
  await connection.next('response.create')
  connection.call('search')
  connection.finish()
  await nextOutput(connection)
  await connection.next('response.create')
  connection.say('I am looking.')
  await event('text')
  done.resolve()
  await connection.next('response.cancel')
  await connection.next('response.create')
  expect(server.problems).toEqual([])
})

test('refuses a gated call without a provider, and runs it with one', async () => {
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
  for (const confirmed of [false, true]) {
    const { session, connection } = await start({ tools: [pay], confirmationProvider: () => ({ confirmed }) })
    await session.send('Pay.')
    await connection.next('response.create')
    connection.call('pay', { args: {} })
    connection.finish()
    const output = await nextOutput(connection)
    expect(output).toMatchObject(confirmed ? { paid: true } : { errorCode: 'CANCELLED' })
  }
})

test('updates instruction and tools when the phase changes', async () => {
  const verify = tool({
    name: 'verify',
    description: 'Verifies',
    run: (_, { state }) => {
      state.set('verified', true)
      return {}
    },
  })
  const { session, connection } = await start({
    tools: [verify, getWeather],
    initialPhase: 'check',
    phases: [
      {
        name: 'check',
        instruction: 'Check.',
        tools: ['verify'],
        transitions: [{ to: 'talk', when: isTrue('verified') }],
      },
      { name: 'talk', instruction: 'Talk.', tools: ['get_weather'] },
    ],
  })
  expect(JSON.stringify(await connection.next('session.update'))).toContain('"verify"')
  await session.send('I am Ada.')
  await connection.next('response.create')
  connection.call('verify', { args: {} })
  connection.finish()
  const update = JSON.stringify(await connection.next('session.update'))
  expect(update).toContain('Talk.')
  expect(update).toContain('get_weather')
})

test('starts a new conversation from the log after a lost connection', async () => {
  const { session, connection, server, event } = await start({ tools: [getWeather] })
  await session.send('My name is Ada.')
  await connection.next('response.create')
  connection.say('Hello Ada.')
  connection.finish()
  await event('turnComplete')
  connection.drop()
  const next = await server.nextConnection()
  await event('resumed')
  const items = [await next.next('conversation.item.create'), await next.next('conversation.item.create')]
  expect(JSON.stringify(items)).toContain('My name is Ada.')
  expect(JSON.stringify(items)).toContain('Hello Ada.')
})

test('an interruption by the user is recorded', async () => {
  const { session, connection, event } = await start({ tools: [] })
  await session.send('Tell me a story.')
  await connection.next('response.create')
  connection.speak(new Uint8Array(480), 'Once upon a time')
  await event('outputTranscript')
  connection.startSpeech()
  await event('interrupted')
  await session.close()
})
