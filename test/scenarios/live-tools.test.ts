// Every kind of tool in a live session: the texts models get, streams, input, agents, long-running and server tools.
import {
  agentTool,
  googleSearch,
  InMemoryArtifactService,
  type JsonObject,
  LlmAgent,
  longRunning,
  prefixTools,
  Runner,
  respond,
  StaticToolset,
  ToolError,
  timeout,
  tool,
  urlContext,
} from 'toolwright'
import type { LiveInput } from 'toolwright/live'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createDeferred, plainTool, silentLogger } from './kit.ts'
import {
  callTool,
  collectResponses,
  flushed,
  liveRunner,
  nextResponse,
  received,
  startStrict,
  startWithCapabilities,
} from './live-calls-kit.ts'

const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string().describe('The city'), days: z.number().int().default(1) }),
  run: ({ city, days }) => ({ city, days }),
})

/** A tool as a class: any object with these members is one. */
class Counter {
  readonly name = 'count'
  readonly description = 'Counts'
  #calls = 0
  declaration(): { name: string; description: string } {
    return { name: this.name, description: this.description }
  }
  run(): JsonObject {
    return { calls: ++this.#calls }
  }
}

function declarationsIn({ tools }: JsonObject = {}): JsonObject[] {
  return (tools as { functionDeclarations?: JsonObject[] }[]).flatMap((one) => one.functionDeclarations ?? [])
}

describe('a tool of a live session', () => {
  test('is declared with its schema, and gets validated arguments with their defaults', async () => {
    const { connection } = await startStrict({ tools: [weather, new Counter()] })
    expect(declarationsIn(connection.setup)).toMatchObject([
      {
        name: 'weather',
        description: 'The weather of a city',
        parametersJsonSchema: {
          properties: { city: { type: 'string', description: 'The city' } },
          required: ['city'],
        },
      },
      { name: 'count', description: 'Counts' },
    ])
    expect(await callTool(connection, 'weather', { city: 'Oslo' })).toEqual({ city: 'Oslo', days: 1 })
    expect(await callTool(connection, 'count', {}, 'n1')).toEqual({ calls: 1 })
    expect(await callTool(connection, 'count', {}, 'n2')).toEqual({ calls: 2 })
  })

  test.each<[string, JsonObject, string]>([
    ['a missing argument', {}, 'Invalid arguments for weather: city: expected string'],
    ['a wrong type', { city: 'Oslo', days: 'two' }, 'Invalid arguments for weather: days: expected number'],
  ])('tells the model about %s', async (_, args, error) => {
    const { connection } = await startStrict({ tools: [weather] })
    expect(await callTool(connection, 'weather', args)).toEqual({
      error: expect.stringContaining(error),
      errorCode: 'INVALID_ARGS',
    })
  })

  test('that does not exist is refused, with a close name', async () => {
    const { connection } = await startStrict({ tools: [weather] })
    const { error, errorCode } = await callTool(connection, 'wether')
    expect([errorCode, error]).toEqual(['NOT_FOUND', expect.stringMatching(/wether.*weather/s)])
  })

  test.each<[string, unknown, JsonObject]>([
    ['an error', new Error('The line is dead.'), { error: 'The line is dead.', errorCode: 'EXECUTION_FAILED' }],
    [
      'a ToolError',
      new ToolError('Which order?', { code: 'NOT_FOUND' }),
      { error: 'Which order?', errorCode: 'NOT_FOUND' },
    ],
  ])('that throws %s gives the model its message', async (_, error, response) => {
    const { connection } = await startStrict({
      tools: [
        plainTool('fail', () => {
          throw error
        }),
      ],
    })
    expect(await callTool(connection, 'fail')).toEqual(response)
  })

  test('that hangs times out, and its signal is aborted', async () => {
    const signals: AbortSignal[] = []
    const hang = plainTool('hang', (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    const { runner } = liveRunner([hang], { toolTimeoutMs: 20 })
    const { connection } = await startStrict({ runner })
    expect(await callTool(connection, 'hang')).toEqual({
      error: 'Tool "hang" timed out after 20 ms. Raise timeoutMs or make the tool long-running.',
      errorCode: 'TIMEOUT',
    })
    expect(signals[0]?.aborted).toBe(true)
  })

  test('may save and load artifacts', async () => {
    const artifactService = new InMemoryArtifactService()
    const note = plainTool('note', async (_, context) => {
      const version = await context.saveArtifact('note.txt', { text: 'Call back.' })
      return { version, text: (await context.loadArtifact('note.txt'))?.text }
    })
    const { runner } = liveRunner([note], { artifactService })
    const { connection } = await startStrict({ runner })
    expect(await callTool(connection, 'note')).toEqual({ version: 0, text: 'Call back.' })
  })

  test('may come from a toolset, with a prefix', async () => {
    const toolset = prefixTools(new StaticToolset([plainTool('get', () => ({ ok: true }))], { name: 'shop' }), 'shop_')
    const { connection } = await startStrict({ tools: [toolset] })
    expect(declarationsIn(connection.setup).map(({ name }) => name)).toEqual(['shop_get'])
    expect(await callTool(connection, 'shop_get')).toEqual({ ok: true })
  })

  test('that Gemini runs itself is an entry of its own next to the functions', async () => {
    const { connection } = await startStrict({ tools: [weather, googleSearch(), urlContext()] })
    const tools = connection.setup?.tools as JsonObject[]
    expect(tools).toHaveLength(3)
    expect(tools).toEqual(expect.arrayContaining([{ googleSearch: {} }, { urlContext: {} }]))
    expect(declarationsIn(connection.setup).map(({ name }) => name)).toEqual(['weather'])
  })
})

describe('a streaming tool', () => {
  test.each<[string, unknown[], JsonObject]>([
    ['no value', [], { status: 'completed' }],
    ['one value', [{ page: 1 }], { page: 1 }],
    ['several values', ['a', 'b', 'c'], { results: ['a', 'b', 'c'] }],
  ])('that yields %s shows each as progress, and its values are the result', async (_, values, result) => {
    const { connection, events, server, session } = await startStrict({
      tools: [
        plainTool('stream', async function* () {
          yield* values
        }),
      ],
    })
    expect(await callTool(connection, 'stream', {}, 'c1')).toEqual(result)
    await flushed(session, connection)
    const progress = events.flatMap((one) => (one.type === 'toolProgress' ? [one] : []))
    expect(progress).toEqual(values.map((value) => ({ type: 'toolProgress', id: 'c1', name: 'stream', value })))
    expect(received(server, 'c1')).toHaveLength(1) // the model waits for the result, not for progress
  })

  test('that returns a value has it as the result', async () => {
    const { connection, event } = await startStrict({
      tools: [
        plainTool('stream', function* () {
          yield { percent: 50 }
          return { done: true }
        }),
      ],
    })
    expect(await callTool(connection, 'stream')).toEqual({ done: true })
    expect(await event('toolProgress')).toMatchObject({ value: { percent: 50 } })
  })
})

describe('a tool that reads the input', () => {
  const summaryOf = (input: LiveInput): JsonObject =>
    'data' in input ? { type: input.type, bytes: input.data.byteLength, mimeType: input.mimeType } : { ...input }

  test('gets audio, video, text and activity that arrive while it runs, and nothing from before', async () => {
    const started = createDeferred()
    const listen = plainTool('listen', async (_, { liveInput }) => {
      const heard: JsonObject[] = []
      started.resolve()
      for await (const input of liveInput ?? []) {
        heard.push(summaryOf(input))
        if (input.type === 'activity' && input.state === 'end') break
      }
      return { heard }
    })
    const { session, connection } = await startStrict({ tools: [listen] })
    await session.send({ audio: new Uint8Array(10) })
    connection.call([{ id: 'c1', name: 'listen' }])
    await started.promise
    await session.send({ activity: 'start' })
    await session.send({ audio: new Uint8Array(320) })
    await session.send({ video: new Uint8Array(5), mimeType: 'image/png' })
    await session.send('hello')
    await session.send({ activity: 'end' })
    expect((await nextResponse(connection)).response).toEqual({
      heard: [
        { type: 'activity', state: 'start' },
        { type: 'audio', bytes: 320, mimeType: 'audio/pcm;rate=16000' },
        { type: 'video', bytes: 5, mimeType: 'image/png' },
        { type: 'text', text: 'hello' },
        { type: 'activity', state: 'end' },
      ],
    })
  })

  test('learns how much it missed when it reads too slowly', async () => {
    const started = createDeferred()
    const go = createDeferred()
    const slow = plainTool('slow', async (_, { liveInput }) => {
      const inputs = liveInput?.[Symbol.asyncIterator]()
      started.resolve()
      await go.promise
      return { first: (await inputs?.next())?.value }
    })
    const { session, connection } = await startStrict({ tools: [slow] })
    connection.call([{ id: 'c1', name: 'slow' }])
    await started.promise
    for (let sent = 0; sent < 300; sent++) await session.send({ audio: new Uint8Array(2) })
    go.resolve()
    expect((await nextResponse(connection)).response).toEqual({ first: { type: 'lagged', dropped: 44 } })
  })

  test('reads to the end of the session, and no longer', async () => {
    const ended = createDeferred<string>()
    const started = createDeferred()
    const listen = plainTool('listen', async (_, { liveInput }) => {
      started.resolve()
      for await (const input of liveInput ?? []) if (input.type === 'lagged') return
      ended.resolve('the input ended')
    })
    const { session, connection } = await startStrict({ tools: [listen], background: { listen: true } })
    connection.call([{ id: 'c1', name: 'listen' }])
    await started.promise
    await session.close()
    expect(await ended.promise).toBe('the input ended')
  })
})

describe('an agent as a tool', () => {
  test('shares state with the session in both directions', async () => {
    const remember = plainTool('remember', (_, { state }) => {
      state.set('found', `${state.get('topic')} found`)
      return { ok: true }
    })
    const model = scriptedModel([{ calls: [{ name: 'remember' }] }, 'Seven articles.'])
    const researcher = new LlmAgent({ name: 'research', description: 'Finds articles', model, tools: [remember] })
    const { session, connection } = await startStrict({ tools: [agentTool(researcher)], state: { topic: 'tides' } })
    expect(await callTool(connection, 'research', { request: 'Find articles.' })).toEqual({ text: 'Seven articles.' })
    expect(session.state.get('found')).toBe('tides found')
    expect(model.requests[0]?.contents).toEqual([{ role: 'user', parts: [{ text: 'Find articles.' }] }])
  })

  test('without a model uses textModel, and two at once keep their own request and answer', async () => {
    const textModel = scriptedModel([
      ({ contents }) => `You asked: ${contents[0]?.parts[0]?.text}`,
      ({ contents }) => `You asked: ${contents[0]?.parts[0]?.text}`,
    ])
    const both = ['one', 'two'].map((name) =>
      agentTool(new LlmAgent({ name, description: name, outputKey: `${name}_said` })),
    )
    const { session, connection } = await startStrict({ tools: both, textModel })
    connection.call(['one', 'two'].map((name) => ({ id: name, name, args: { request: `ask ${name}` } })))
    const responses = await collectResponses(connection, 2)
    expect([...responses.values()].flat()).toEqual([{ text: 'You asked: ask one' }, { text: 'You asked: ask two' }])
    expect([session.state.get('one_said'), session.state.get('two_said')]).toEqual([
      'You asked: ask one',
      'You asked: ask two',
    ])
  })

  test('without any model tells the model what is missing', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {}) // the runner logs the failure
    onTestFinished(() => void vi.restoreAllMocks())
    const agent = new LlmAgent({ name: 'desk', tools: [agentTool(new LlmAgent({ name: 'one', description: 'one' }))] })
    const { connection } = await startStrict({ agent })
    const { error } = await callTool(connection, 'one', { request: 'hi' })
    expect(error).toContain('pass textModel to connectLive()')
  })

  test('stands in for a server tool that the live model does not have beside functions', async () => {
    const textModel = { ...scriptedModel(['Found it.']), capabilities: { serverTools: ['googleSearch'] } }
    const { connection } = await startWithCapabilities(
      { serverTools: ['googleSearch'], serverToolsWithFunctions: false },
      { tools: [googleSearch(), weather], textModel },
    )
    expect(declarationsIn(connection.setup).map(({ name }) => name)).toEqual(['google_search', 'weather'])
    expect(await callTool(connection, 'google_search', { request: 'tides' })).toEqual({ text: 'Found it.' })
  })

  test('has the default timeout of tools, and may have a longer one', async () => {
    const hanging = (name: string) =>
      new LlmAgent({ name, description: name, model: scriptedModel([{ text: 'late', delayMs: 60 }]) })
    const { runner } = liveRunner([agentTool(hanging('short')), timeout(agentTool(hanging('long')), 5_000)], {
      toolTimeoutMs: 20,
    })
    const { connection } = await startStrict({ runner })
    expect(await callTool(connection, 'short', { request: 'go' })).toMatchObject({ errorCode: 'TIMEOUT' })
    expect(await callTool(connection, 'long', { request: 'go' })).toEqual({ text: 'late' })
  })
})

test('a long-running call has its handle at once, and a result that another run sends reaches the model once', async () => {
  const { runner } = liveRunner([longRunning(plainTool('ship', () => ({ ticket: 7 })))])
  const { session, server, connection } = await startStrict({ runner, userId: 'ada' })
  connection.call([{ id: 'c1', name: 'ship' }])
  expect(await nextResponse(connection)).toMatchObject({ response: { ticket: 7 }, willContinue: true })
  const [request] = await runner.pending({ userId: 'ada', sessionId: session.sessionId })
  if (!request) throw new Error('No pending request.')
  const answer = { userId: 'ada', sessionId: session.sessionId, message: [respond(request, { shipped: true })] }
  await runner.complete(answer)
  await runner.complete(answer) // a retry of the same result
  expect(await nextResponse(connection)).toMatchObject({ response: { shipped: true }, willContinue: false })
  await flushed(session, connection)
  expect(received(server, 'c1')).toHaveLength(2)
  expect([session.openCalls, await runner.pending({ userId: 'ada' })]).toEqual([0, []])
})

test('a transfer changes the instruction and the tools before the model gets its response', async () => {
  const billing = new LlmAgent({
    name: 'billing',
    description: 'Bills',
    instruction: 'You handle bills.',
    tools: [plainTool('refund', () => ({ refunded: true }))],
  })
  const agent = new LlmAgent({ name: 'desk', instruction: 'You are the desk.', tools: [weather], subAgents: [billing] })
  const runner = new Runner({ appName: 'app', agent, model: scriptedModel([]), logger: silentLogger })
  const { connection, event } = await startStrict({ runner })
  connection.call([{ id: 'c1', name: 'transfer_to_agent', args: { agent_name: 'billing' } }])
  const update = (await connection.next('contextUpdate')) as {
    contextUpdate: { systemInstruction: unknown; tools: JsonObject }
  }
  expect(JSON.stringify(update.contextUpdate.systemInstruction)).toContain('You handle bills.')
  expect(declarationsIn(update.contextUpdate.tools).map(({ name }) => name)).toContain('refund')
  await nextResponse(connection)
  const sent = connection.received.map((message) => Object.keys(message)[0])
  expect(sent).toEqual(['setup', 'contextUpdate', 'toolResponse'])
  expect(await event('transfer')).toMatchObject({ to: 'billing' })
  expect(await callTool(connection, 'refund')).toEqual({ refunded: true })
  expect(await callTool(connection, 'weather', { city: 'Oslo' })).toMatchObject({ errorCode: 'NOT_FOUND' })
})
