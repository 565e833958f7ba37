// The eighteen faults of an earlier implementation, in the order of its list. None may appear here.
import { background, cached, type FunctionResponse, type JsonObject, timeout, tool } from 'toolwright'
import { geminiLive } from 'toolwright/gemini'
import { changed, connectLive, type LiveSession } from 'toolwright/live'
import { geminiLiveServer } from 'toolwright/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createDeferred, plainTool, waitUntil } from './kit.ts'
import {
  callTool,
  collectResponses,
  flushed,
  liveRunner,
  nextResponse,
  nextResponses,
  received,
  startStrict,
} from './live-calls-kit.ts'
import { startLive } from './live-kit.ts'

const isAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

test('1: a cancellation of the model aborts a tool that the model waits for', async () => {
  const started = createDeferred<AbortSignal>()
  const slow = plainTool('slow', async (_, { signal }) => {
    started.resolve(signal)
    await isAborted(signal)
  })
  const { session, server, connection, event } = await startStrict({ tools: [slow] })
  connection.call([{ id: 'c1', name: 'slow' }])
  const signal = await started.promise
  connection.cancelCalls(['c1'])
  expect(await event('toolCancelled')).toMatchObject({ ids: ['c1'] })
  await isAborted(signal)
  expect(await event('toolResponse')).toMatchObject({ responses: [{ id: 'c1', response: { errorCode: 'CANCELLED' } }] })
  await flushed(session, connection)
  expect(received(server, 'c1')).toEqual([])
  expect(session.openCalls).toBe(0)
})

test('2: calls of one message run at the same time, and each id is answered once', async () => {
  let running = 0
  const all = createDeferred()
  const meet = plainTool('meet', async () => {
    if (++running === 3) all.resolve()
    await all.promise
    return { together: running }
  })
  const { session, server, connection } = await startStrict({ tools: [meet] })
  connection.call(['a', 'b', 'c'].map((id) => ({ id, name: 'meet' })))
  const responses = await collectResponses(connection, 3)
  expect([...responses]).toEqual(['a', 'b', 'c'].map((id) => [id, [{ together: 3 }]]))
  await flushed(session, connection)
  for (const id of ['a', 'b', 'c']) expect(received(server, id)).toHaveLength(1)
})

test('3: the acknowledgement of a background call is silent and announces the result, which has the scheduling', async () => {
  const done = createDeferred()
  const search = plainTool('search', async () => {
    await done.promise
    return { hits: 2 }
  })
  const { connection } = await startStrict({ tools: [search], background: { search: { scheduling: 'INTERRUPT' } } })
  connection.call([{ id: 'c1', name: 'search' }])
  expect(await nextResponse(connection)).toMatchObject({ willContinue: true, scheduling: 'SILENT' })
  done.resolve()
  expect(await nextResponse(connection)).toMatchObject({
    response: { status: 'completed', tool: 'search', result: { hits: 2 } },
    willContinue: false,
    scheduling: 'INTERRUPT',
  })
})

test.each<[string, (session: LiveSession) => unknown]>([
  ['closing the session', (session) => session.close()],
  ['disposing of the session', (session) => session[Symbol.asyncDispose]()],
])('4: %s aborts background work', async (_, end) => {
  const started = createDeferred<AbortSignal>()
  const search = plainTool('search', async (_args, { signal }) => {
    started.resolve(signal)
    await isAborted(signal)
  })
  const { session, connection, event } = await startStrict({ tools: [background(search)] })
  connection.call([{ id: 'c1', name: 'search' }])
  const signal = await started.promise
  await end(session)
  expect(signal.aborted).toBe(true)
  expect(await event('closed')).toMatchObject({ reason: 'The live session was closed.' })
})

test('4: leaving the loop over the events aborts background work', async () => {
  const started = createDeferred<AbortSignal>()
  const search = plainTool('search', async (_args, { signal }) => {
    started.resolve(signal)
    await isAborted(signal)
  })
  const server = await geminiLiveServer()
  onTestFinished(() => server.close())
  const model = geminiLive('gemini-live-test', { apiKey: 'test-key-123', baseUrl: server.url })
  const session = await connectLive({ model, tools: [search], background: { search: true } })
  const connection = await server.nextConnection()
  connection.call([{ id: 'c1', name: 'search' }])
  for await (const { type } of session) if (type === 'toolCall') break
  expect((await started.promise).aborted).toBe(true)
})

test('5: beforeToolResponse sees and changes the result of a background call', async () => {
  const lookup = plainTool('lookup', () => ({ card: '4111', name: 'Ada' }))
  const { connection, event } = await startStrict({
    tools: [background(lookup)],
    beforeToolResponse: ({ responses }) =>
      responses.map((one) => ({ ...one, response: { ...one.response, card: '***' } })),
  })
  connection.call([{ id: 'c1', name: 'lookup' }])
  await nextResponse(connection) // the acknowledgement
  expect((await nextResponse(connection)).response).toEqual({
    status: 'completed',
    tool: 'lookup',
    result: { card: '***', name: 'Ada' },
  })
  expect(await event('toolResponse')).toMatchObject({ responses: [{ response: { card: '***', name: 'Ada' } }] })
})

test('6: a streaming tool in the background sends each yield to the model, then its result', async () => {
  const scan = plainTool('scan', async function* () {
    yield { page: 1 }
    yield { page: 2 }
    return { pages: 2 }
  })
  const { connection, event } = await startStrict({ tools: [background(scan)] })
  connection.call([{ id: 'c1', name: 'scan' }])
  const responses = [
    await nextResponse(connection),
    await nextResponse(connection),
    await nextResponse(connection),
    await nextResponse(connection),
  ]
  expect(responses.map(({ response, willContinue }) => [response, willContinue])).toEqual([
    [{ status: 'running', tool: 'scan' }, true],
    [{ page: 1 }, true],
    [{ page: 2 }, true],
    [{ status: 'completed', tool: 'scan', result: { pages: 2 } }, false],
  ])
  expect(await event('toolProgress')).toMatchObject({ id: 'c1', name: 'scan', value: { page: 1 } })
})

test('6: a tool reads what the user sends while it runs', async () => {
  const reading = createDeferred()
  const listen = plainTool('listen', async (_, { liveInput }) => {
    reading.resolve()
    for await (const input of liveInput ?? []) if (input.type === 'text') return { heard: input.text }
    return { heard: null }
  })
  const { session, connection } = await startStrict({ tools: [listen] })
  connection.call([{ id: 'c1', name: 'listen' }])
  await reading.promise
  await session.send('Stop here.')
  expect(await nextResponse(connection)).toMatchObject({ response: { heard: 'Stop here.' } })
})

test('7: a tool may run longer than the default timeout, and the time of a human does not count', async () => {
  const { runner } = liveRunner(
    [
      timeout(
        plainTool('slow', () => new Promise((resolve) => setTimeout(resolve, 60, { done: true }))),
        5_000,
      ),
      timeout(
        plainTool('gated', () => ({ paid: true }), { requiresConfirmation: true }),
        20,
      ),
    ],
    { toolTimeoutMs: 20 },
  )
  const { connection } = await startStrict({
    runner,
    confirmationProvider: () => new Promise((resolve) => setTimeout(resolve, 60, { confirmed: true })),
  })
  expect(await callTool(connection, 'slow')).toEqual({ done: true })
  connection.call([{ id: 'c2', name: 'gated' }])
  expect(await nextResponse(connection)).toMatchObject({ response: { status: 'waiting' }, willContinue: true })
  expect(await nextResponse(connection)).toMatchObject({ response: { paid: true } })
})

test('8: the model gets the reason why a person denied a call', async () => {
  const run = vi.fn()
  const { connection } = await startStrict({
    tools: [plainTool('pay', run, { requiresConfirmation: true })],
    confirmationProvider: () => ({ confirmed: false, hint: 'Over the limit of 100.' }),
  })
  connection.call([{ id: 'c1', name: 'pay' }])
  await nextResponse(connection) // it waits for a person
  const { response } = await nextResponse(connection)
  expect(response).toMatchObject({ errorCode: 'CANCELLED', error: expect.stringContaining('Over the limit of 100.') })
  expect(run).not.toHaveBeenCalled()
})

test('9: equal calls at the same time share one run, and a cached result expires', async () => {
  let now = 0
  const answered = createDeferred()
  const run = vi.fn(async () => {
    await answered.promise
    return { rate: run.mock.calls.length }
  })
  const { connection } = await startStrict({
    tools: [cached(plainTool('rate', run), { ttlMs: 1_000, maxEntries: 2 }, { monotonicNow: () => now })],
  })
  connection.call([
    { id: 'a', name: 'rate' },
    { id: 'b', name: 'rate' },
  ])
  await waitUntil(() => run.mock.calls.length > 0)
  answered.resolve()
  const responses = await collectResponses(connection, 2)
  expect([responses.get('a'), responses.get('b')]).toEqual([[{ rate: 1 }], [{ rate: 1 }]])
  now = 1_001
  expect(await callTool(connection, 'rate')).toEqual({ rate: 2 })
})

test('10: the arguments of every tool are validated, also those of a tool with a plain JSON schema', async () => {
  const run = vi.fn()
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
  const { connection } = await startStrict({
    tools: [
      tool({ name: 'plain', description: 'Plain', parameters, run }),
      tool({ name: 'typed', description: 'Typed', parameters: z.object({ city: z.string() }), run }),
    ],
  })
  for (const name of ['plain', 'typed']) {
    expect(await callTool(connection, name, { city: 7 })).toEqual({
      error: `Invalid arguments for ${name}: city: expected string`,
      errorCode: 'INVALID_ARGS',
    })
  }
  expect(run).not.toHaveBeenCalled()
})

test.each<[string, unknown, JsonObject]>([
  ['a text', 'sunny', { result: 'sunny' }],
  ['a list', [1, 2], { result: [1, 2] }],
  ['null', null, { result: null }],
])('11: %s as a result reaches the model inside an object', async (_, value, response) => {
  const { connection } = await startStrict({ tools: [plainTool('get', () => value)] })
  expect(await callTool(connection, 'get')).toEqual(response)
})

test('12: before the server goes away, the session finishes its calls and resumes with the newest handle', async () => {
  const work = createDeferred()
  const { server, connection, event } = await startStrict({
    tools: [plainTool('work', () => work.promise.then(() => ({ done: true })))],
  })
  const handle = connection.newHandle()
  connection.call([{ id: 'c1', name: 'work' }])
  await event('toolCall')
  connection.goAway('30s')
  work.resolve()
  expect(await nextResponse(connection)).toMatchObject({ id: 'c1', response: { done: true } })
  connection.outputTranscript('Done.')
  connection.turnComplete() // sends a newer handle
  const next = await server.nextConnection()
  await event('resumed')
  expect(server.connections).toHaveLength(2)
  expect([next.handle, next.handle === handle]).toEqual([expect.any(String), false])
  expect(next.conversation).toBe(connection.conversation)
})

test('13: a message with several keys is handled as a whole', async () => {
  const { connection, event } = await startLive({ tools: [plainTool('get', () => ({ ok: true }))] })
  connection.send({
    serverContent: { modelTurn: { parts: [{ text: 'Let me look.' }] }, inputTranscription: { text: 'And now?' } },
    toolCall: { functionCalls: [{ id: 'c1', name: 'get' }] },
    usageMetadata: { totalTokenCount: 3 },
    sessionResumptionUpdate: { newHandle: 'h', resumable: true },
  })
  expect(await nextResponse(connection)).toMatchObject({ id: 'c1', response: { ok: true } })
  connection.turnComplete()
  expect(await event('text')).toMatchObject({ text: 'Let me look.' })
  expect(await event('inputTranscript')).toMatchObject({ text: 'And now?' })
  expect(await event('toolCall')).toMatchObject({ event: { content: { parts: [{ text: 'Let me look.' }, {}] } } })
  expect(await event('turnComplete')).toMatchObject({ usageMetadata: { totalTokenCount: 3 } })
})

test('14: watchers see what tools write', async () => {
  const seen = createDeferred<unknown[]>()
  const { connection } = await startStrict({
    tools: [plainTool('verify', (_, { state }) => state.set('verified', true))],
    watchers: [{ key: 'verified', on: changed(), run: ({ before, after }) => seen.resolve([before, after]) }],
  })
  await callTool(connection, 'verify')
  expect(await seen.promise).toEqual([undefined, true])
})

test.each<[string, Parameters<typeof geminiLiveServer>[0]]>([
  ['does not answer the setup', { acceptSetup: false }],
  [
    'closes before the setup is complete',
    { acceptSetup: false, onConnection: (one) => one.close(1008, 'No permission.') },
  ],
])('15: connecting to a server that %s fails', async (_, options) => {
  const server = await geminiLiveServer(options)
  onTestFinished(() => server.close())
  const model = geminiLive('gemini-live-test', { apiKey: 'test-key-123', baseUrl: server.url, connectTimeoutMs: 200 })
  await expect(connectLive({ model })).rejects.toThrow('did not accept the live connection')
})

test('16: tools are declared in the order of the agent, and a phase declares its own', async () => {
  const [b, a, c] = ['b', 'a', 'c'].map((name) => plainTool(name, (_, { state }) => state.set('next', true)))
  const { connection } = await startStrict({
    tools: [b, a, c].flatMap((one) => one ?? []),
    phases: [
      {
        name: 'first',
        instruction: 'One.',
        tools: ['a', 'b'],
        transitions: [{ to: 'second', when: (s) => s.has('next') }],
      },
      { name: 'second', instruction: 'Two.', tools: ['c'] },
    ],
    initialPhase: 'first',
  })
  const namesIn = (tools: unknown): string[] =>
    (tools as { functionDeclarations: { name: string }[] }[]).flatMap((one) =>
      one.functionDeclarations.map(({ name }) => name),
    )
  expect(namesIn(connection.setup?.tools)).toEqual(['b', 'a'])
  connection.call([{ id: 'c1', name: 'a' }])
  const { contextUpdate } = (await connection.next('contextUpdate')) as { contextUpdate: { tools: { tools: unknown } } }
  expect(namesIn(contextUpdate.tools.tools)).toEqual(['c'])
  await nextResponse(connection)
})

test('17: calls that the phase allows run beside a refused one, although onToolCall answers none', async () => {
  const { connection } = await startStrict({
    tools: [plainTool('open', () => ({ ok: true })), plainTool('closed', () => ({ ok: true }))],
    phases: [{ name: 'only', instruction: 'Talk.', tools: ['open'] }],
    initialPhase: 'only',
    onToolCall: () => undefined,
  })
  connection.call([
    { id: 'a', name: 'closed' },
    { id: 'b', name: 'open' },
  ])
  const responses: FunctionResponse[] = [...(await nextResponses(connection)), ...(await nextResponses(connection))]
  expect(responses).toEqual([
    {
      id: 'a',
      name: 'closed',
      response: { error: "Tool 'closed' is not available in the current conversation phase." },
    },
    { id: 'b', name: 'open', response: { ok: true } },
  ])
})

test('18: a deleted key is a tombstone in the recorded delta, and a call that fails deletes nothing', async () => {
  const { runner } = liveRunner([
    plainTool('forget', (_, { state }) => state.delete('name')),
    plainTool('fail', (_, { state }) => {
      state.delete('city')
      throw new Error('no')
    }),
  ])
  const { session, connection } = await startStrict({ runner, userId: 'ada', state: { name: 'Ada', city: 'Oslo' } })
  await callTool(connection, 'forget')
  await callTool(connection, 'fail')
  expect([session.state.has('name'), session.state.get('city')]).toEqual([false, 'Oslo'])
  const { sessionId, userId } = session
  const stored = await runner.sessionService.getSession({ appName: 'app', userId, sessionId })
  expect(stored?.state).toEqual({ city: 'Oslo' })
  expect(stored?.events.map(({ actions }) => actions.stateDelta)).toContainEqual({ name: null })
})
