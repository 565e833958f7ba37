import { approve, type PendingRequest } from 'toolwright'
import { isTrue } from 'toolwright/live'
import type { GeminiLiveConnection } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { createDeferred, plainTool, responsesOf, waitUntil } from './kit.ts'
import { flushed, liveRunner, storedEvents } from './live-calls-kit.ts'
import { type LiveTest, startLive } from './live-kit.ts'
import { allTold, nextTold, QUICK, readBySession, reply, slowTool } from './live-reconnect-kit.ts'

type Lose = (connection: GeminiLiveConnection) => void
const LOSSES: [string, Lose][] = [
  ['is dropped (1006)', (connection) => connection.drop()],
  ['is closed with 1011', (connection) => connection.close(1011, 'Internal error')],
  ['is closed with 1000', (connection) => connection.close(1000)],
  ['is closed with 1008 because it got too old', (connection) => connection.close(1008, 'The operation was aborted.')],
]

const startQuick = (options: Parameters<typeof startLive>[0] = {}): Promise<LiveTest> =>
  startLive({ reconnect: QUICK, ...options })

/** Lets the user ask and the model answer, with everything recorded and a new handle. */
async function exchange({ session, event }: LiveTest, connection: GeminiLiveConnection): Promise<void> {
  await session.send('Hello?')
  await connection.next('realtimeInput')
  reply(connection, 'Hi.')
  await event('turnComplete')
}

const count = ({ events }: LiveTest, type: string): number => events.filter((event) => event.type === type).length

/** The messages of the log, as `author: text`, with calls and responses by name. */
async function loggedBy(live: LiveTest, runner: Parameters<typeof storedEvents>[0]): Promise<string[]> {
  const events = await storedEvents(runner, live.session)
  return events.flatMap(({ author, content, interrupted }) =>
    (content?.parts ?? []).map(({ text, functionCall, functionResponse }) => {
      if (functionCall) return `call ${functionCall.name}`
      if (functionResponse) return `response ${functionResponse.name}`
      return `${author}: ${text}${interrupted ? ' (interrupted)' : ''}`
    }),
  )
}

describe('a connection is lost while nothing happens', () => {
  test.each(LOSSES)('and %s: the session resumes with the newest handle and goes on', async (_how, lose) => {
    const live = await startQuick()
    const { session, server, connection, event } = live
    await exchange(live, connection)
    const handle = connection.newHandle()
    await readBySession(connection, event)
    lose(connection)
    const next = await server.nextConnection()
    expect(await event('reconnecting')).toEqual({ type: 'reconnecting', attempt: 1 })
    await event('resumed')
    expect(next.handle).toBe(handle)
    await session.send('Still there?')
    await next.next('realtimeInput')
    reply(next, 'Yes.')
    await event('turnComplete')
    expect(allTold(next)).toEqual(['Still there?'])
    await session.close()
    expect([server.connections.length, server.problems]).toEqual([2, []])
  })
})

describe('a connection is lost while the user speaks', () => {
  test('the new connection gets what was heard, and the log has it once', async () => {
    const { runner } = liveRunner([])
    const live = await startQuick({ runner })
    const { session, server, connection, event } = live
    await session.send({ audio: new Uint8Array(640) })
    connection.inputTranscript('My order ')
    connection.inputTranscript('is late.')
    await event('inputTranscript')
    await event('inputTranscript')
    connection.drop()
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: ['user: My order is late.'], turnComplete: true })
    reply(next, 'I am sorry.')
    await event('turnComplete')
    expect(await loggedBy(live, runner)).toEqual(['user: My order is late.', 'desk: I am sorry.'])
  })

  test('audio that is sent meanwhile reaches the new connection', async () => {
    const { session, server, connection, event } = await startQuick()
    connection.drop()
    await event('reconnecting')
    await session.send({ audio: new Uint8Array(320) })
    const next = await server.nextConnection()
    expect(await next.next('realtimeInput')).toMatchObject({ realtimeInput: { audio: { bytes: 320 } } })
  })

  test('manual activity is started again', async () => {
    const { session, server, connection } = await startQuick()
    await session.send({ activity: 'start' })
    await connection.next('realtimeInput')
    connection.drop()
    const next = await server.nextConnection()
    expect(await next.next('realtimeInput')).toEqual({ realtimeInput: { activityStart: {} } })
    await session.send({ activity: 'end' })
    expect(await next.next('realtimeInput')).toEqual({ realtimeInput: { activityEnd: {} } })
  })
})

describe('a connection is lost while the model owes a reply', () => {
  test.each(LOSSES)('and %s before it begins: the message is repeated, and answered once', async (_how, lose) => {
    const { runner } = liveRunner([])
    const live = await startQuick({ runner })
    const { session, server, connection, event } = live
    await session.send('How late is it?')
    await connection.next('realtimeInput')
    lose(connection)
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: ['user: How late is it?'], turnComplete: true })
    reply(next, 'Noon.')
    await event('turnComplete')
    expect(await loggedBy(live, runner)).toEqual(['user: How late is it?', 'desk: Noon.'])
    expect(count(live, 'turnComplete')).toBe(1)
  })

  test('in the middle of it: what was said is recorded as interrupted, and the model replies again', async () => {
    const { runner } = liveRunner([])
    const live = await startQuick({ runner })
    const { session, server, connection, event } = live
    await session.send('How late is it?')
    await connection.next('realtimeInput')
    connection.say('It is ')
    await event('text')
    connection.drop()
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: ['user: How late is it?'], turnComplete: true })
    reply(next, 'It is noon.')
    await event('turnComplete')
    expect(await loggedBy(live, runner)).toEqual([
      'user: How late is it?',
      'desk: It is  (interrupted)',
      'desk: It is noon.',
    ])
    expect(count(live, 'turnComplete')).toBe(1)
  })

  test('in the middle of it, after a handle: the model knows the message and is only asked to reply', async () => {
    const { session, server, connection, event } = await startQuick()
    await session.send('How late is it?')
    await connection.next('realtimeInput')
    connection.say('It is ')
    connection.newHandle()
    await readBySession(connection, event)
    connection.drop()
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: [], turnComplete: true })
  })

  test('when only its end is missing: the turn is complete, and the model does not speak again', async () => {
    const live = await startQuick()
    const { session, server, connection, event } = live
    await session.send('How late is it?')
    await connection.next('realtimeInput')
    connection.say('Noon.')
    connection.generationComplete()
    await readBySession(connection, event)
    connection.drop()
    await event('turnComplete')
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: ['user: How late is it?', 'model: Noon.'], turnComplete: false })
  })

  test('a message that is sent before the loss is noticed, or while there is no connection, reaches the model once', async () => {
    const { session, server, connection, event } = await startQuick()
    connection.drop()
    await session.send('one')
    await event('reconnecting')
    await session.send('two')
    const next = await server.nextConnection()
    await event('resumed')
    await session.send('three')
    await waitUntil(() => next.conversation.turns.includes('three'))
    expect(next.conversation.turns.filter((turn) => turn !== 'one')).toEqual(['two', 'three'])
    expect(server.conversations.flatMap(({ turns }) => turns).filter((turn) => turn === 'one').length).toBeGreaterThan(
      0,
    )
  })

  test('a handle that was made before the message arrived does not make the model forget it', async () => {
    const { session, server, connection, event } = await startQuick()
    await session.send('How late is it?')
    connection.newHandle()
    await readBySession(connection, event)
    connection.drop()
    const next = await server.nextConnection()
    next.drop() // its first handle is made before it knows anything, too
    const last = await server.nextConnection()
    expect(await nextTold(last)).toEqual({ turns: ['user: How late is it?'], turnComplete: true })
  })
})

describe('a connection is lost while a tool runs', () => {
  test('a call that the handle covers runs once and is answered by its id', async () => {
    const slow = slowTool()
    const { runner } = liveRunner([slow.tool])
    const live = await startQuick({ runner })
    const { session, server, connection, event } = live
    await session.send('Look it up.')
    await connection.next('realtimeInput')
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    connection.newHandle()
    await slow.started
    await readBySession(connection, event)
    connection.drop()
    const next = await server.nextConnection()
    await event('resumed')
    slow.finish()
    expect(await next.next('toolResponse')).toMatchObject({
      toolResponse: { functionResponses: [{ id: 'c1', name: 'look_up', response: { found: 7 } }] },
    })
    reply(next, 'Seven.')
    await event('turnComplete')
    expect(slow.runs).toBe(1)
    expect(await loggedBy(live, runner)).toEqual([
      'user: Look it up.',
      'call look_up',
      'response look_up',
      'desk: Seven.',
    ])
    expect(server.problems).toEqual([])
  })

  test('a call that the handle does not cover runs once, and its result becomes a message', async () => {
    const slow = slowTool()
    const { runner } = liveRunner([slow.tool])
    const live = await startQuick({ runner })
    const { session, server, connection, event } = live
    await session.send('Look it up.')
    await connection.next('realtimeInput')
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await slow.started
    connection.drop()
    const next = await server.nextConnection()
    const called = 'model: [Called look_up with {}]'
    expect(await nextTold(next)).toEqual({ turns: ['user: Look it up.', called], turnComplete: false })
    slow.finish()
    const arrived = 'user: [The result of look_up has arrived: {"found":7}]'
    expect(await nextTold(next)).toEqual({ turns: [arrived], turnComplete: true })
    reply(next, 'Seven.')
    await event('turnComplete')
    expect([slow.runs, responsesOf(await storedEvents(runner, session)).length, session.openCalls]).toEqual([1, 1, 0])
    expect(server.problems).toEqual([])
  })

  test('a call after speech that no handle covers still gets its reply', async () => {
    const slow = slowTool()
    const { server, connection, event } = await startQuick({ tools: [slow.tool] })
    connection.inputTranscript('Look it up.')
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await slow.started
    slow.finish()
    await connection.next('toolResponse')
    connection.drop()
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({
      turns: ['user: Look it up.', 'model: [Called look_up with {}]', 'user: [Result of look_up: {"found":7}]'],
      turnComplete: true,
    })
    reply(next, 'Seven.')
    await event('turnComplete')
  })

  test('a response that was lost on its way is sent again by its id', async () => {
    const slow = slowTool()
    const { server, connection, event } = await startQuick({ tools: [slow.tool] })
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    connection.newHandle()
    await slow.started
    await readBySession(connection, event)
    connection.stopReading()
    slow.finish()
    await event('toolResponse')
    connection.drop()
    const next = await server.nextConnection()
    expect(await next.next('toolResponse')).toMatchObject({ toolResponse: { functionResponses: [{ id: 'c1' }] } })
    await event('resumed')
    expect(allTold(next)).toEqual([['c1']])
    expect(server.problems).toEqual([])
  })

  test('a result that comes while there is no connection reaches the model once', async () => {
    const slow = slowTool()
    const { server, connection, event } = await startQuick({ tools: [slow.tool], reconnect: { delayMs: 1 } })
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await slow.started
    connection.drop()
    await event('reconnecting')
    slow.finish()
    await event('toolResponse')
    const next = await server.nextConnection()
    const turns = ['model: [Called look_up with {}]', 'user: [Result of look_up: {"found":7}]']
    const told = await nextTold(next)
    // the result may come right after the connection
    if (told.turnComplete) expect(told.turns).toEqual(turns)
    else expect((await nextTold(next)).turns).toEqual(['user: [The result of look_up has arrived: {"found":7}]'])
  })

  test('a model that does not wait is answered on the new connection, too', async () => {
    const slow = slowTool()
    const { server, connection, event } = await startQuick({ tools: [slow.tool], background: { look_up: true } })
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await connection.next('toolResponse') // the acknowledgement
    connection.say('I am on it.')
    connection.turnComplete() // and a handle
    await readBySession(connection, event)
    connection.drop()
    const next = await server.nextConnection()
    await event('resumed')
    slow.finish()
    await waitUntil(
      () => next.conversation.calls.get('c1')?.responses.some((one) => one.willContinue === false) === true,
    )
    expect(server.problems).toEqual([])
  })

  test('a call that the model repeats after the reconnect does not run again', async () => {
    const slow = slowTool()
    const { server, connection, event } = await startQuick({ tools: [slow.tool] })
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await slow.started
    connection.drop()
    const next = await server.nextConnection()
    await event('resumed')
    next.call([{ id: 'c1', name: 'look_up', args: {} }])
    await readBySession(next, event)
    slow.finish()
    expect(await next.next('toolResponse')).toMatchObject({ toolResponse: { functionResponses: [{ id: 'c1' }] } })
    expect(slow.runs).toBe(1)
  })

  test('a new call with the id of a forgotten one runs', async () => {
    const seen: unknown[] = []
    const note = plainTool('note', (args) => ({ noted: seen.push(args) }))
    const { server, connection, event } = await startQuick({ tools: [note] })
    connection.call([{ id: 'c1', name: 'note', args: { at: 1 } }])
    await connection.next('toolResponse')
    connection.drop()
    const next = await server.nextConnection()
    await event('resumed')
    next.call([{ id: 'c1', name: 'note', args: { at: 2 } }])
    expect(await next.next('toolResponse')).toMatchObject({
      toolResponse: { functionResponses: [{ id: 'c1', response: { noted: 2 } }] },
    })
    expect(seen).toEqual([{ at: 1 }, { at: 2 }])
  })
})

test('a confirmation that waits when the connection is lost is asked once, and its call runs once', async () => {
  const slow = slowTool('pay')
  slow.finish({ paid: true })
  const requests: PendingRequest[] = []
  const { runner } = liveRunner([{ ...slow.tool, requiresConfirmation: () => true }])
  const live = await startQuick({
    runner,
    confirmationProvider: (request) => {
      requests.push(request)
      return new Promise(() => {})
    },
  })
  const { session, server, connection, event } = live
  connection.call([{ id: 'c1', name: 'pay', args: {} }])
  const { request } = await event('request')
  connection.drop()
  const next = await server.nextConnection()
  await event('resumed')
  await session.answer(approve(request))
  await waitUntil(() => JSON.stringify(allTold(next)).includes('{\\"paid\\":true}'))
  expect([slow.runs, requests.length, count(live, 'request')]).toEqual([1, 1, 1])
  expect(server.problems).toEqual([])
})

describe('what the model knows after a reconnect', () => {
  test('a spoken exchange that no handle covers is repeated', async () => {
    const { server, connection, event } = await startQuick({ server: { sendHandles: false } })
    connection.newHandle()
    connection.inputTranscript('I am Ada.')
    connection.outputTranscript('Hello Ada.')
    connection.audio(new Uint8Array(480))
    connection.turnComplete()
    await event('turnComplete')
    connection.drop()
    const next = await server.nextConnection()
    expect(next.handle).toBeDefined()
    expect(await nextTold(next)).toEqual({ turns: ['user: I am Ada.', 'model: Hello Ada.'], turnComplete: false })
  })

  test('a refused handle leads to a new conversation with the whole log', async () => {
    const rejectHandles: string[] = []
    const slow = slowTool()
    slow.finish()
    const live = await startQuick({ tools: [slow.tool], server: { rejectHandles, sendHandles: false } })
    const { session, server, connection, event } = live
    await exchange(live, connection)
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await connection.next('toolResponse')
    reply(connection, 'Seven.')
    await event('turnComplete')
    rejectHandles.push(connection.newHandle())
    await session.send('And now?')
    connection.drop()
    const next = await server.nextConnection()
    expect(next.handle).toBeUndefined()
    expect(await nextTold(next)).toEqual({
      turns: [
        'user: Hello?',
        'model: Hi.[Called look_up with {}]',
        'user: [Result of look_up: {"found":7}]',
        'model: Seven.',
        'user: And now?',
      ],
      turnComplete: true,
    })
    reply(next, 'Still seven.')
    await event('turnComplete')
    expect(count(live, 'error')).toBe(0)
  })

  test('a new conversation is never resumed with a handle that it was given before it knew anything', async () => {
    const live = await startQuick({ server: { sendHandles: false } })
    const { server, connection } = live
    await exchange(live, connection)
    connection.drop()
    const second = await server.nextConnection()
    await nextTold(second)
    second.newHandle()
    await readBySession(second, live.event)
    second.drop()
    const third = await server.nextConnection()
    expect(third.handle).toBeUndefined()
    expect(await nextTold(third)).toEqual({ turns: ['user: Hello?', 'model: Hi.'], turnComplete: false })
  })

  test('a result that the log has is not told a second time', async () => {
    const slow = slowTool()
    const live = await startQuick({ tools: [slow.tool], server: { sendHandles: false } })
    const { session, server, connection, event } = live
    await session.send('Look it up.')
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await slow.started
    connection.drop()
    const second = await server.nextConnection()
    const turns = ['user: Look it up.', 'model: [Called look_up with {}]']
    expect(await nextTold(second)).toEqual({
      turns: [...turns, 'user: [look_up is still running. Its result follows.]'],
      turnComplete: false,
    })
    slow.finish()
    await event('toolResponse')
    expect((await nextTold(second)).turns).toEqual(['user: [The result of look_up has arrived: {"found":7}]'])
    second.drop()
    const third = await server.nextConnection()
    await event('resumed')
    await event('resumed')
    const told = { turns: [...turns, 'user: [Result of look_up: {"found":7}]'], turnComplete: true }
    await flushed(session, third)
    expect(allTold(third)).toEqual([told, 'video'])
  })
})

test('a result that waits for a phase while the connection is lost reaches the model once', async () => {
  const entered = createDeferred()
  const entering = createDeferred()
  const start = plainTool('start', (_args, { state }) => {
    state.set('started', true)
    return { started: true }
  })
  const { session, server, connection, event } = await startQuick({
    tools: [start],
    server: { sendHandles: false },
    initialPhase: 'before',
    phases: [
      { name: 'before', instruction: 'Wait.', transitions: [{ to: 'after', when: isTrue('started') }] },
      {
        name: 'after',
        instruction: 'Go.',
        onEnter: () => {
          entering.resolve()
          return entered.promise
        },
      },
    ],
  })
  await session.send('Start.')
  connection.call([{ id: 'c1', name: 'start', args: {} }])
  await entering.promise // the result is recorded, and waits until the model knows the new phase
  connection.drop()
  await event('reconnecting')
  const next = await server.nextConnection()
  await new Promise((resolve) => setTimeout(resolve, 30)) // a session that did not wait would tell the log now
  entered.resolve()
  await event('resumed')
  for (let at = 0; at < 20; at++) await flushed(session, next) // a second message would follow at once
  expect(JSON.stringify(allTold(next)).split('started').length - 1).toBe(1)
})

describe('attempts that fail', () => {
  test('end the session with one error, and it never tries again', async () => {
    const live = await startQuick({ reconnect: { ...QUICK, attempts: 4 } })
    const { session, server, events } = live
    await server.close()
    await session.ended
    const types = events.map(({ type }) => type)
    await waitUntil(() => live.events.at(-1)?.type === 'closed')
    expect(types.filter((type) => type === 'reconnecting')).toHaveLength(4)
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', errorCode: 'CONNECTION_LOST', message: expect.stringContaining('gemini-live-test') },
      { type: 'closed' },
    ])
    await expect(session.send('Hello?')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })

  test('are not made if nothing helps', async () => {
    const live = await startQuick()
    live.connection.close(1008, 'API key not valid.')
    await live.session.ended
    await waitUntil(() => live.events.at(-1)?.type === 'closed')
    expect([count(live, 'reconnecting'), count(live, 'error')]).toEqual([0, 1])
    expect(live.server.connections).toHaveLength(1)
  })

  test('end a session whose provider fails each time it gets the same message', async () => {
    const live = await startQuick({
      reconnect: { ...QUICK, attempts: 3 },
      server: { onMessage: (_message, connection) => connection.close(1011, 'Internal error') },
    })
    await live.session.send('poison')
    await live.session.ended
    expect(live.server.connections).toHaveLength(4)
    await waitUntil(() => count(live, 'error') === 1)
  })
})
