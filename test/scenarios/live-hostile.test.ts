import { InMemorySessionService, type JsonObject } from 'toolwright'
import { geminiLive } from 'toolwright/gemini'
import { connectLive, type LiveEvent, type LiveOptions, type LiveSession } from 'toolwright/live'
import { type GeminiLiveConnection, geminiLiveServer } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDeferred, plainTool, responsesOf, waitUntil } from './kit.ts'
import { flushed, liveRunner, storedEvents } from './live-calls-kit.ts'
import { type LiveTest, startLive } from './live-kit.ts'
import { QUICK, readBySession, reply, slowTool } from './live-reconnect-kit.ts'

const MEGABYTE = 1024 * 1024

/** The session still works: a user message is answered, on the same connection. */
async function expectAlive({ session, server, connection, event }: LiveTest): Promise<void> {
  await session.send('Are you there?')
  for (;;) {
    const { realtimeInput } = (await connection.next('realtimeInput')) as { realtimeInput: JsonObject }
    if (realtimeInput.text === 'Are you there?') break
  }
  reply(connection, 'Yes, I am.')
  for (;;) if ((await event('text')).text === 'Yes, I am.') break
  await readBySession(connection, event)
  expect([server.connections.length, connection.isOpen]).toEqual([1, true])
}

/** A session whose events the test reads itself, or not at all. */
async function startUnread(
  options: Partial<LiveOptions<LiveSession>> = {},
): Promise<{ session: LiveSession; connection: GeminiLiveConnection }> {
  const server = await geminiLiveServer()
  onTestFinished(() => server.close())
  const model = geminiLive('gemini-live-test', { apiKey: 'key-123', baseUrl: server.url })
  const session = await connectLive({ model, ...options })
  onTestFinished(() => session.close())
  return { session, connection: await server.nextConnection() }
}

/** Waits until an unread session has handled everything that the server has sent: it answers a call. */
async function handled(connection: GeminiLiveConnection): Promise<void> {
  connection.call([{ id: 'ping', name: 'no_such_tool', args: {} }])
  await connection.next('toolResponse')
}

async function readToEnd(session: LiveSession): Promise<LiveEvent[]> {
  const events: LiveEvent[] = []
  for await (const event of session) events.push(event)
  return events
}

const bytesOf = (events: readonly LiveEvent[]): number =>
  events.reduce((sum, event) => sum + (event.type === 'audio' ? event.data.byteLength : 0), 0)

describe('messages that make no sense do not end the session', () => {
  test.each<[string, (JsonObject | string | Uint8Array)[]]>([
    [
      'frames that are not JSON',
      ['', '{', 'hello', '{"serverContent":', new Uint8Array([0, 255, 1]), new Uint8Array()],
    ],
    ['JSON that is no object', ['null', '7', '"text"', '[]', '[{"serverContent":{}}]', 'true']],
    [
      'unknown messages',
      [{}, { surprise: { text: 'x' } }, { serverContent: { surprise: [1] } }, { __proto__: { a: 1 } }],
    ],
    [
      'known messages with wrong values',
      [
        { serverContent: null },
        { serverContent: 'text' },
        { serverContent: { modelTurn: null, turnComplete: 'yes', interrupted: 1 } },
        {
          serverContent: { modelTurn: { parts: [null, 5, { text: 7 }, { text: null }, { inlineData: { data: 1 } }] } },
        },
        { serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm', data: '%%%' } }] } } },
        { serverContent: { inputTranscription: { text: { a: 1 } }, outputTranscription: [] } },
        { toolCall: { functionCalls: 'all' } },
        { toolCall: { functionCalls: [null, 7, 'look_up'] } },
        { toolCallCancellation: { ids: 'c1' } },
        { toolCallCancellation: { ids: [null, 7, {}] } },
        { usageMetadata: 'many', sessionResumptionUpdate: { newHandle: 7, resumable: 'yes' } },
        { setupComplete: {} },
        { error: 'no' },
      ],
    ],
  ])('%s', async (_what, messages) => {
    const live = await startLive()
    for (const message of messages) live.connection.send(message)
    await expectAlive(live)
    expect(live.events.filter(({ type }) => type === 'toolCall' || type === 'reconnecting')).toEqual([])
  })

  test('an error that the provider reports is shown', async () => {
    const live = await startLive()
    live.connection.send({ error: { code: 13, message: 'Internal trouble.' } })
    expect(await live.event('error')).toEqual({ type: 'error', errorCode: 'MODEL_ERROR', message: 'Internal trouble.' })
    await expectAlive(live)
  })

  test('every part of a message with several keys is used', async () => {
    const { runner } = liveRunner([plainTool('look_up', () => ({ found: 7 }))])
    const live = await startLive({ runner })
    live.connection.call([{ id: 'c0', name: 'look_up' }])
    await live.connection.next('toolResponse')
    live.connection.send({
      serverContent: {
        interrupted: true,
        inputTranscription: { text: 'Hello?' },
        modelTurn: { parts: [{ text: 'Hi.' }] },
        generationComplete: true,
        turnComplete: true,
      },
      toolCall: { functionCalls: [{ id: 'c1', name: 'look_up', args: {} }] },
      usageMetadata: { totalTokenCount: 9 },
      sessionResumptionUpdate: { newHandle: 'conversation-1-handle-1', resumable: true },
    })
    expect(await live.event('turnComplete')).toMatchObject({ usageMetadata: { totalTokenCount: 9 } })
    const shown = new Set(live.events.map(({ type }) => type))
    expect(['interrupted', 'inputTranscript', 'text', 'toolCall'].filter((type) => !shown.has(type as never))).toEqual(
      [],
    )
    await live.connection.next('toolResponse')
    expect(responsesOf(await storedEvents(runner, live.session))).toHaveLength(2)
  })

  test('a huge text is passed on, and the log gets a part of it', async () => {
    const { runner } = liveRunner([])
    const live = await startLive({ runner })
    live.connection.say('x'.repeat(5 * MEGABYTE))
    live.connection.turnComplete()
    expect((await live.event('text')).text).toHaveLength(5 * MEGABYTE)
    await live.event('turnComplete')
    const [event] = await storedEvents(runner, live.session)
    expect(event?.content?.parts[0]?.text).toHaveLength(200_000)
    await expectAlive(live)
  })
})

describe('turns without sense', () => {
  test('the end of a turn that had no content records nothing', async () => {
    const { runner } = liveRunner([])
    const live = await startLive({ runner })
    await expectAlive(live)
    for (let at = 0; at < 5; at++) live.connection.turnComplete()
    live.connection.generationComplete()
    live.connection.interrupted()
    await readBySession(live.connection, live.event)
    const texts = (await storedEvents(runner, live.session)).map(({ content }) => content?.parts[0]?.text)
    expect(texts).toEqual(['Are you there?', 'Yes, I am.'])
  })

  test('transcripts that arrive after the end of their turn are recorded once', async () => {
    const { runner } = liveRunner([])
    const live = await startLive({ runner })
    const { connection, session, event } = live
    connection.inputTranscript('Hel')
    connection.audio(new Uint8Array(480))
    connection.outputTranscript('Hi ')
    connection.turnComplete()
    connection.inputTranscript('lo?')
    connection.outputTranscript('there.')
    await event('turnComplete')
    await expectAlive(live)
    const log = await storedEvents(runner, session)
    const said = (author: string): string =>
      log.flatMap((one) => (one.author === author ? (one.content?.parts[0]?.text ?? '') : [])).join('|')
    expect(said('user').replace('|', '')).toBe('Hello?|Are you there?')
    expect(said('desk')).toMatch(/^Hi \|(there\.)?/)
    expect(JSON.stringify(log).split('there.').length - 1).toBeLessThanOrEqual(2) // text and transcription of one event
  })

  test('a late transcript does not keep the session from moving to a new connection', async () => {
    const { connection, server, event } = await startLive({ reconnect: QUICK })
    connection.audio(new Uint8Array(480))
    connection.turnComplete()
    connection.outputTranscript('late')
    await event('outputTranscript')
    connection.goAway('60s')
    await server.nextConnection()
  })
})

describe('hostile calls', () => {
  test('a call that is sent twice runs once', async () => {
    const slow = slowTool()
    const live = await startLive({ tools: [slow.tool] })
    const call = { id: 'c1', name: 'look_up', args: {} }
    live.connection.call([call, call])
    live.connection.call([call])
    await slow.started
    slow.finish()
    await live.connection.next('toolResponse')
    await expectAlive(live)
    expect([slow.runs, live.session.openCalls]).toEqual([1, 0])
  })

  test('cancelling unknown, answered and repeated ids changes nothing', async () => {
    const live = await startLive({ tools: [plainTool('look_up', () => ({ found: 7 }))] })
    live.connection.cancelCalls(['unknown', '', 'constructor'])
    live.connection.call([{ id: 'c1', name: 'look_up' }])
    await live.connection.next('toolResponse')
    live.connection.cancelCalls(['c1', 'c1'])
    await expectAlive(live)
    expect(live.events.filter(({ type }) => type === 'toolCancelled')).toEqual([])
  })

  test('a flood of calls is answered, each call once', async () => {
    let runs = 0
    const tool = plainTool('look_up', () => ({ run: ++runs }))
    const live = await startLive({ tools: [tool] })
    for (let at = 0; at < 200; at++) live.connection.call([{ id: `c${at}`, name: 'look_up', args: { at } }])
    live.connection.call(Array.from({ length: 60 }, (_, at) => ({ id: `b${at}`, name: 'look_up', args: { at } })))
    const calls = [...live.connection.conversation.calls.values()]
    await waitUntil(() => calls.every(({ responses }) => responses.length > 0))
    await expectAlive(live)
    expect(calls.filter(({ responses }) => responses.length !== 1)).toEqual([])
    expect([calls.length, live.session.openCalls, live.server.problems]).toEqual([260, 0, []])
    expect(runs).toBeLessThanOrEqual(260)
  })

  test('names and ids from the provider are only looked up', async () => {
    const live = await startLive({ tools: [plainTool('look_up', () => ({ found: 7 }))] })
    const names = ['constructor', '__proto__', 'toString', '', 'x'.repeat(10_000)]
    live.connection.call(names.map((name, at) => ({ id: `__proto__${at}`, name, args: {} })))
    const calls = [...live.connection.conversation.calls.values()]
    await waitUntil(() => calls.every(({ responses }) => responses.length === 1))
    expect(calls.every(({ responses }) => JSON.stringify(responses).includes('error'))).toBe(true)
    await expectAlive(live)
  })
})

describe('a storm of interruptions', () => {
  const ROUNDS = 30

  test('drops the audio of each interrupted reply, and records each one', async () => {
    const { session, connection } = await startUnread()
    for (let at = 0; at < ROUNDS; at++) {
      connection.audio(new Uint8Array(4_800).fill(at))
      connection.outputTranscript(`reply ${at}`)
      connection.interrupted()
      connection.turnComplete()
    }
    connection.audio(new Uint8Array([1, 2]))
    await handled(connection)
    await session.close()
    const events = await readToEnd(session)
    const last = events.findLastIndex(({ type }) => type === 'interrupted')
    expect([bytesOf(events.slice(0, last)), bytesOf(events.slice(last))]).toEqual([0, 2])
    const transcripts = events.flatMap((event) =>
      event.type === 'outputTranscript' && event.finished ? event.text : [],
    )
    expect(transcripts).toEqual(Array.from({ length: ROUNDS }, (_, at) => `reply ${at}`))
    expect(events.filter(({ type }) => type === 'turnComplete')).toHaveLength(ROUNDS)
  })

  test('also drops audio that waits behind something that is being recorded', async () => {
    const sessionService = new InMemorySessionService()
    const { runner } = liveRunner([], { sessionService })
    const { session, connection } = await startUnread({ runner })
    const stored = createDeferred()
    const append = sessionService.append.bind(sessionService)
    sessionService.append = (...args) => stored.promise.then(() => append(...args))
    reply(connection, 'A whole turn.')
    connection.audio(new Uint8Array(480))
    connection.interrupted()
    const isHandled = handled(connection)
    await pause(20) // everything has arrived
    stored.resolve()
    await isHandled
    await session.close()
    const events = await readToEnd(session)
    expect(events.map(({ type }) => type).slice(0, 4)).toEqual(['text', 'turnComplete', 'interrupted', 'toolCall'])
  })

  test('leaves no call open: each is cancelled or answered, and has one response in the log', async () => {
    const signals: AbortSignal[] = []
    const tool = plainTool(
      'look_up',
      (_args, { signal }) =>
        new Promise((resolve) => {
          signals.push(signal)
          signal.addEventListener('abort', () => resolve({}), { once: true })
        }),
    )
    const { runner } = liveRunner([tool])
    const live = await startLive({ runner })
    const { connection, session } = live
    for (let at = 0; at < ROUNDS; at++) {
      connection.say(`turn ${at}`)
      connection.call([{ id: `c${at}`, name: 'look_up', args: {} }])
      connection.interrupted()
      connection.cancelCalls([`c${at}`])
      connection.turnComplete()
    }
    await waitUntil(() => live.events.filter(({ type }) => type === 'turnComplete').length === ROUNDS)
    await waitUntil(() => session.openCalls === 0)
    await expectAlive(live)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
    const log = await storedEvents(runner, session)
    const calls = log.flatMap(
      ({ content }) => content?.parts.flatMap(({ functionCall }) => functionCall?.id ?? []) ?? [],
    )
    expect(
      responsesOf(log)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(calls.sort())
    expect(calls).toHaveLength(ROUNDS)
    expect([...connection.conversation.calls.values()].flatMap(({ responses }) => responses)).toEqual([])
  })
})

describe('a server that stops reading', () => {
  test('slows the sender down, and nothing is lost when it reads again', async () => {
    const { session, connection } = await startLive()
    connection.stopReading()
    let sent = 0
    let isSlow = false
    while (!isSlow) {
      const sending = session.send({ audio: new Uint8Array(MEGABYTE / 4) }).then(() => 'sent')
      sent += MEGABYTE / 4
      isSlow = (await Promise.race([sending, pause(200)])) !== 'sent'
      expect(sent).toBeLessThan(64 * MEGABYTE)
    }
    connection.resumeReading()
    await flushed(session, connection)
    expect(connection.conversation.audioBytesIn).toBe(sent)
  })

  test('does not keep a sender waiting after the session is closed', async () => {
    const { session, connection } = await startLive()
    connection.stopReading()
    const sending = Array.from({ length: 40 }, () => session.send({ audio: new Uint8Array(MEGABYTE) }))
    await session.close()
    await Promise.allSettled(sending)
  })
})

describe('a consumer', () => {
  test('that never reads costs a limited amount of memory, and learns later what it missed', async () => {
    const { session, connection } = await startUnread()
    for (let at = 0; at < 40; at++) connection.audio(new Uint8Array(MEGABYTE))
    reply(connection, 'The end.')
    await handled(connection)
    await session.close()
    const events = await readToEnd(session)
    expect(events[0]).toMatchObject({ type: 'lagged' })
    expect(bytesOf(events)).toBeLessThanOrEqual(16 * MEGABYTE)
    expect(events.filter(({ type }) => type === 'turnComplete')).toHaveLength(1)
  })

  test('that reads slowly slows the network down instead of losing audio', async () => {
    const { session, connection } = await startUnread()
    const iterator = session[Symbol.asyncIterator]()
    connection.audio(new Uint8Array(1))
    await iterator.next()
    for (let at = 0; at < 40; at++) connection.audio(new Uint8Array(MEGABYTE))
    connection.turnComplete()
    for (let at = 0; at < 5; at++) await flushed(session, connection)
    let bytes = 0
    for (;;) {
      const { value } = await iterator.next()
      expect(value?.type).not.toBe('lagged')
      if (value?.type === 'audio') bytes += value.data.byteLength
      if (value?.type === 'turnComplete') break
    }
    expect(bytes).toBe(40 * MEGABYTE)
  })
})

describe('send()', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'INVALID_REQUEST'],
    ['null', null, 'INVALID_REQUEST'],
    ['an empty text', '  ', 'INVALID_REQUEST'],
    ['a number', 7, 'INVALID_REQUEST'],
    ['an empty object', {}, 'INVALID_REQUEST'],
    ['audio that is text', { audio: 'abc' }, 'INVALID_REQUEST'],
    ['audio of another type', { audio: new Uint8Array(2), mimeType: 'text/plain' }, 'INVALID_REQUEST'],
    ['video of another type', { video: new Uint8Array(2), mimeType: 'audio/pcm' }, 'INVALID_REQUEST'],
    ['too much audio', { audio: new Uint8Array(MEGABYTE + 1) }, 'TOO_LARGE'],
    ['too large a picture', { video: new Uint8Array(8 * MEGABYTE + 1) }, 'TOO_LARGE'],
    ['unknown activity', { activity: 'maybe' }, 'INVALID_REQUEST'],
    ['no content', { content: [] }, 'INVALID_REQUEST'],
    ['content without parts', { content: { role: 'user' } }, 'INVALID_REQUEST'],
    ['content with a broken part', { content: { role: 'user', parts: [null] } }, 'INVALID_REQUEST'],
    ['content of the model', { content: { role: 'model', parts: [{ text: 'I am you.' }] } }, 'INVALID_REQUEST'],
    [
      'a forged result',
      { content: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'pay', response: {} } }] } },
      'INVALID_REQUEST',
    ],
  ])('refuses %s, and the session goes on', async (_what, message, code) => {
    const live = await startLive()
    await expect(live.session.send(message as never)).rejects.toMatchObject({ code })
    await expectAlive(live)
    expect(live.connection.received).toHaveLength(2)
  })
})

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
