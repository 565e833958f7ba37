import { describe, expect, test } from 'vitest'
import { waitUntil } from './kit.ts'
import { flushed, liveRunner, storedEvents } from './live-calls-kit.ts'
import { type LiveTest, startLive } from './live-kit.ts'
import { allTold, nextTold, QUICK, readBySession, reply, slowTool } from './live-reconnect-kit.ts'

const startQuick = (options: Parameters<typeof startLive>[0] = {}): Promise<LiveTest> =>
  startLive({ reconnect: QUICK, ...options })

describe('the provider announces that it closes the connection', () => {
  test('an idle session resumes with the newest handle before the old connection is closed', async () => {
    const wasOldOpen: boolean[] = []
    const { session, server, connection, event } = await startQuick({
      server: { onConnection: ({ handle }) => void (handle && wasOldOpen.push(connection.isOpen)) },
    })
    await session.send('Hello?')
    await connection.next('realtimeInput')
    reply(connection, 'Hi.')
    await event('turnComplete')
    const handle = connection.newHandle()
    connection.goAway('5s')
    const next = await server.nextConnection()
    await event('reconnecting')
    await event('resumed')
    expect([next.handle, wasOldOpen]).toEqual([handle, [true]])
    await waitUntil(() => !connection.isOpen)
    await session.send('Still there?')
    await next.next('realtimeInput')
    expect(allTold(next)).toEqual(['Still there?'])
    expect(server.problems).toEqual([])
  })

  test('audio that the user sends meanwhile is not lost, and arrives once', async () => {
    const live = await startQuick()
    const { session, server, connection } = live
    let isMoving = true
    const speaking = (async () => {
      let frames = 0
      for (; isMoving || frames < 50; frames++) {
        await session.send({ audio: new Uint8Array(640) })
        await new Promise((resolve) => setImmediate(resolve))
      }
      return frames
    })()
    await connection.next('realtimeInput')
    connection.goAway('5s')
    const next = await server.nextConnection()
    await next.next('realtimeInput')
    isMoving = false
    const frames = await speaking
    await flushed(session, next)
    const bytes = server.conversations.reduce((sum, { audioBytesIn }) => sum + audioBytesIn, 0)
    expect(bytes).toBe(frames * 640)
  })

  test('a running call finishes and is answered on the old connection, and the turn ends there', async () => {
    const slow = slowTool()
    const { runner } = liveRunner([slow.tool])
    const live = await startQuick({ runner })
    const { session, server, connection, event } = live
    await session.send('Look it up.')
    await connection.next('realtimeInput')
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await slow.started
    connection.goAway('30s')
    await readBySession(connection, event)
    slow.finish()
    await connection.next('toolResponse')
    connection.say('It is ')
    await event('text')
    expect(server.connections).toHaveLength(1)
    reply(connection, 'seven.')
    await event('turnComplete')
    const next = await server.nextConnection()
    await event('resumed')
    await flushed(session, next)
    expect(allTold(next)).toEqual(['video'])
    const texts = (await storedEvents(runner, session)).flatMap(({ content }) => content?.parts[0]?.text ?? [])
    expect([texts, slow.runs]).toEqual([['Look it up.', 'It is seven.'], 1])
    expect(server.problems).toEqual([])
  })

  test('a user who speaks is heard to the end, and gets the reply on the old connection', async () => {
    const { server, connection, event } = await startQuick()
    connection.inputTranscript('Where is')
    connection.goAway('30s')
    connection.inputTranscript(' my order?')
    connection.say('On its way.')
    await event('text')
    expect(server.connections).toHaveLength(1)
    connection.generationComplete()
    connection.turnComplete()
    await server.nextConnection()
    expect(await event('inputTranscript')).toMatchObject({ text: 'Where is' })
  })

  test('manual activity is waited for', async () => {
    const { session, server, connection, event } = await startQuick()
    await session.send({ activity: 'start' })
    connection.goAway('30s')
    await readBySession(connection, event)
    await session.send({ activity: 'end' })
    await flushed(session, connection)
    expect(server.connections).toHaveLength(1)
    reply(connection, 'Yes?')
    await server.nextConnection()
  })

  test('a session that is busy until the end moves before it, and its call is not run again', async () => {
    const slow = slowTool()
    const live = await startQuick({ tools: [slow.tool] })
    const { session, server, connection, event } = live
    await session.send('Look it up.')
    await connection.next('realtimeInput')
    connection.say('One moment.')
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    await slow.started
    connection.goAway('1.03s') // 30 ms until the last second
    const next = await server.nextConnection()
    const told = ['user: Look it up.', 'model: One moment.', 'model: [Called look_up with {}]']
    expect((await nextTold(next)).turns.join('')).toBe(told.join('').replace('.model: [', '.['))
    slow.finish()
    expect(await nextTold(next)).toMatchObject({ turnComplete: true })
    await waitUntil(() => !connection.isOpen)
    reply(next, 'Seven.')
    await event('turnComplete')
    expect([slow.runs, connection.conversation.calls.get('c1')?.responses]).toEqual([1, []])
  })

  test('a reply that is cut by the move is recorded as interrupted and not joined with the next one', async () => {
    const { runner } = liveRunner([])
    const { session, server, connection, event } = await startQuick({ runner })
    await session.send('How late is it?')
    await connection.next('realtimeInput')
    connection.say('It is ')
    connection.goAway('0s')
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: ['user: How late is it?'], turnComplete: true })
    reply(next, 'It is noon.')
    await event('turnComplete')
    const log = await storedEvents(runner, session)
    expect(log.map(({ content, interrupted }) => [content?.parts[0]?.text, interrupted])).toEqual([
      ['How late is it?', undefined],
      ['It is ', true],
      ['It is noon.', undefined],
    ])
  })

  test('what the model sends after the announcement still counts', async () => {
    const { runner } = liveRunner([])
    const live = await startQuick({ runner })
    const { session, server, connection, event } = live
    await session.send('Hello?')
    await connection.next('realtimeInput')
    connection.goAway('30s')
    connection.goAway('30s')
    reply(connection, 'Hi.')
    await event('turnComplete')
    await server.nextConnection()
    await event('resumed')
    const log = await storedEvents(runner, session)
    expect(log.map(({ content }) => content?.parts[0]?.text)).toEqual(['Hello?', 'Hi.'])
    expect(server.connections).toHaveLength(2)
  })

  test('a provider that closes earlier than announced is a lost connection like any other', async () => {
    const { session, server, connection, event } = await startQuick()
    await session.send('Hello?')
    await connection.next('realtimeInput')
    connection.goAway('30s')
    connection.close(1001)
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: ['user: Hello?'], turnComplete: true })
    reply(next, 'Hi.')
    await event('turnComplete')
    expect(server.connections).toHaveLength(2)
  })

  test('a new connection that is refused is tried again, and the session goes on', async () => {
    const rejectHandles: string[] = []
    const live = await startQuick({ server: { rejectHandles } })
    const { session, server, connection, event } = live
    await session.send('Hello?')
    await connection.next('realtimeInput')
    reply(connection, 'Hi.')
    await event('turnComplete')
    rejectHandles.push(connection.newHandle())
    connection.goAway('5s')
    const next = await server.nextConnection()
    expect(await nextTold(next)).toEqual({ turns: ['user: Hello?', 'model: Hi.'], turnComplete: false })
    await event('resumed')
    expect(live.events.filter(({ type }) => type === 'error')).toEqual([])
  })
})
