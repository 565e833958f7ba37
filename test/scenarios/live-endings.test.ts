import { InMemorySessionService, ToolwrightError } from 'toolwright'
import { geminiLive } from 'toolwright/gemini'
import { connectLive, LiveConnectionError, type LiveOptions, type LiveSession } from 'toolwright/live'
import { type GeminiLiveServerOptions, geminiLiveServer } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { waitUntil } from './kit.ts'
import { liveRunner, storedEvents } from './live-calls-kit.ts'
import { collect, startLive } from './live-kit.ts'
import { QUICK, slowTool } from './live-reconnect-kit.ts'

/** What keeps a process alive: sockets and timers. */
function alive(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap' || kind === 'Timeout')
}

/** Expects that nothing is left when the test is over that was not there now. */
function expectNothingLeft(): () => Promise<void> {
  const before = alive().length
  return () => waitUntil(() => alive().length <= before)
}

async function connectTo(
  url: string,
  options: Partial<LiveOptions<LiveSession>> = {},
  connectTimeoutMs = 5_000,
): Promise<LiveSession> {
  const model = geminiLive('gemini-live-test', { apiKey: 'key-123', baseUrl: url, connectTimeoutMs })
  return await connectLive({ model, ...options })
}

async function startServer(options: GeminiLiveServerOptions = {}): ReturnType<typeof geminiLiveServer> {
  const server = await geminiLiveServer(options)
  onTestFinished(() => server.close())
  return server
}

/** The session has ended: its lease is free, and a text run could start. */
async function expectFree(runner: ReturnType<typeof liveRunner>['runner'], sessionId: string): Promise<void> {
  const { sessionService, appName } = runner
  const lease = await sessionService.claim({ appName, userId: 'user', sessionId })
  await sessionService.release(lease)
}

describe('the first connection fails fast and leaves nothing behind', () => {
  test('if no server listens', async () => {
    const nothingLeft = expectNothingLeft()
    const server = await geminiLiveServer()
    await server.close()
    await expect(connectTo(server.url)).rejects.toThrow(LiveConnectionError)
    await nothingLeft()
  })

  test.each([
    [1008, 'The model is not supported.'],
    [1007, 'Request contains an invalid argument.'],
    [1011, 'Internal error.'],
  ])('if the setup is refused with %i', async (code, reason) => {
    const nothingLeft = expectNothingLeft()
    const server = await startServer({
      acceptSetup: false,
      onConnection: (connection) => connection.close(code, reason),
    })
    await expect(connectTo(server.url)).rejects.toMatchObject({
      name: 'LiveConnectionError',
      code,
      message: expect.stringContaining(reason.replace('.', '')),
    })
    await server.close()
    expect(server.connections).toHaveLength(1)
    await nothingLeft()
  })

  test('if the server never answers', async () => {
    const nothingLeft = expectNothingLeft()
    const server = await startServer({ acceptSetup: false })
    await expect(connectTo(server.url, {}, 40)).rejects.toThrow('within 40 ms')
    await waitUntil(() => server.connections.every(({ isOpen }) => !isOpen))
    await server.close()
    await nothingLeft()
  })

  test('and the session in the store is free again', async () => {
    const { runner } = liveRunner([])
    const server = await startServer({ acceptSetup: false, onConnection: (connection) => connection.close(1011) })
    const sessionId = 's1'
    await runner.sessionService.createSession({ appName: 'app', userId: 'user', sessionId })
    await expect(connectTo(server.url, { runner, sessionId })).rejects.toThrow('1011')
    await expectFree(runner, sessionId)
  })

  test('if the signal is aborted before, or while it connects', async () => {
    const nothingLeft = expectNothingLeft()
    const server = await startServer({ acceptSetup: false })
    await expect(connectTo(server.url, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    )
    expect(server.connections).toHaveLength(0)
    const controller = new AbortController()
    const connecting = connectTo(server.url, { signal: controller.signal })
    await server.nextConnection()
    controller.abort(new Error('changed my mind'))
    await expect(connecting).rejects.toThrow('changed my mind')
    await waitUntil(() => server.connections.every(({ isOpen }) => !isOpen))
    await server.close()
    await nothingLeft()
  })

  test('if the runner is closed while it connects', async () => {
    const server = await startServer({ acceptSetup: false })
    const { runner } = liveRunner([])
    const connecting = connectTo(server.url, { runner })
    await server.nextConnection()
    const closing = runner.close()
    await expect(connecting).rejects.toThrow(/closed|cancelled/)
    await closing
    await waitUntil(() => server.connections.every(({ isOpen }) => !isOpen))
  })
})

describe('close()', () => {
  test('ends the connection, shows one last event and never connects again', async () => {
    const nothingLeft = expectNothingLeft()
    const { session, server, connection, events, event } = await startLive({ reconnect: QUICK })
    await Promise.all([session.close(), session.close()])
    await event('closed')
    await waitUntil(() => !connection.isOpen)
    expect(events).toEqual([{ type: 'closed', reason: 'The live session was closed.' }])
    await expect(session.send('Hello?')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(server.connections).toHaveLength(1)
    await server.close()
    await nothingLeft()
  })

  test('while it waits for the next attempt, ends the wait', async () => {
    const nothingLeft = expectNothingLeft()
    const { session, server, event, events } = await startLive({ reconnect: { delayMs: 60_000, maxDelayMs: 60_000 } })
    await server.close()
    await event('reconnecting')
    await event('reconnecting')
    await session.close()
    await event('closed')
    await nothingLeft()
    expect(events.map(({ type }) => type)).toEqual(['reconnecting', 'reconnecting', 'closed'])
  })

  test('while it connects again, ends the attempt', async () => {
    const nothingLeft = expectNothingLeft()
    const options = { acceptSetup: true }
    const { session, server, connection, events, event } = await startLive({ reconnect: QUICK, server: options })
    options.acceptSetup = false
    connection.drop()
    await server.nextConnection()
    await session.close()
    await event('closed')
    await waitUntil(() => server.connections.every(({ isOpen }) => !isOpen))
    expect(events.map(({ type }) => type)).toEqual(['reconnecting', 'closed'])
    await server.close()
    await nothingLeft()
  })

  test('at the moment of a loss, never leaves a connection open', async () => {
    for (let at = 0; at < 20; at++) {
      const { session, server, connection, event } = await startLive({ reconnect: QUICK })
      connection.drop()
      if (at % 3 === 1) await event('reconnecting')
      if (at % 3 === 2) await server.nextConnection()
      for (let turns = 0; turns < at; turns++) await Promise.resolve()
      await session.close()
      await waitUntil(() => server.connections.every(({ isOpen }) => !isOpen))
      const { length } = server.connections
      await new Promise((resolve) => setTimeout(resolve, 10))
      expect(server.connections).toHaveLength(length)
      await server.close()
    }
  })

  test('during a call, aborts its signal and records how it ended', async () => {
    const slow = slowTool()
    const { runner } = liveRunner([slow.tool])
    const { session, connection } = await startLive({ runner, reconnect: QUICK })
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    const signal = await slow.started
    await session.close()
    expect(signal.aborted).toBe(true)
    const log = await storedEvents(runner, session)
    const responses = log.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [])
    expect(responses).toMatchObject([{ name: 'look_up', response: { errorCode: 'CANCELLED' } }])
    await expectFree(runner, session.sessionId)
  })

  test('while the provider is about to close the connection, leaves no timer behind', async () => {
    const nothingLeft = expectNothingLeft()
    const { session, server, connection, event } = await startLive()
    connection.say('I am still')
    connection.goAway('3600s')
    await event('text')
    await session.close()
    await server.close()
    await nothingLeft()
  })

  test('records what was said so far', async () => {
    const { runner } = liveRunner([])
    const { session, connection, event } = await startLive({ runner })
    connection.inputTranscript('Hello?')
    connection.say('Hi, I')
    await event('text')
    await session.close()
    const log = await storedEvents(runner, session)
    const said = log.flatMap(({ content, interrupted }) => (content ? [[content.parts[0]?.text, interrupted]] : []))
    expect(said).toEqual([
      ['Hello?', undefined],
      ['Hi, I', true],
    ])
  })

  test('is called when the consumer leaves its loop', async () => {
    const server = await startServer()
    const session = await connectTo(server.url)
    const connection = await server.nextConnection()
    connection.say('Hi.')
    for await (const event of session) if (event.type === 'text') break
    await session.ended
    await waitUntil(() => !connection.isOpen)
  })
})

describe('a session ends', () => {
  test('when its signal aborts, also between two connections', async () => {
    for (const isLost of [false, true]) {
      const controller = new AbortController()
      const { session, server, connection, event } = await startLive({ signal: controller.signal, reconnect: QUICK })
      if (isLost) connection.drop()
      if (isLost) await event('reconnecting')
      controller.abort()
      await session.ended
      await event('closed')
      await waitUntil(() => server.connections.every(({ isOpen }) => !isOpen))
    }
  })

  test('and forgets its signal, which may live longer', async () => {
    const controller = new AbortController()
    const listeners = new Set<unknown>()
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners.add(args[1])
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners.delete(args[1])
      remove(...args)
    }
    const { session } = await startLive({ signal })
    await session.close()
    expect(listeners.size).toBe(0)
  })

  test('when its runner is closed', async () => {
    const { runner } = liveRunner([])
    const { session, server, connection, event } = await startLive({ runner, reconnect: QUICK })
    await runner.close()
    await session.ended
    await event('closed')
    await waitUntil(() => !connection.isOpen)
    expect(server.connections).toHaveLength(1)
  })

  test('when its run is cancelled, and a running call with it', async () => {
    const slow = slowTool()
    const { runner } = liveRunner([slow.tool])
    const { session, server, connection, event } = await startLive({ runner, reconnect: QUICK })
    connection.call([{ id: 'c1', name: 'look_up', args: {} }])
    const signal = await slow.started
    await runner.cancel({ userId: session.userId, sessionId: session.sessionId })
    await session.ended
    expect(await event('closed')).toMatchObject({ reason: expect.stringContaining('cancelled') })
    expect([signal.aborted, server.connections.length]).toEqual([true, 1])
    await waitUntil(() => !connection.isOpen)
    await expectFree(runner, session.sessionId)
  })

  test('when it has lost its lease, with an error event', async () => {
    const sessionService = new InMemorySessionService()
    const { runner } = liveRunner([], { sessionService })
    const { session, connection, event } = await startLive({ runner, reconnect: QUICK })
    sessionService.append = () => Promise.reject(new ToolwrightError('LEASE_LOST', 'Another process has the session.'))
    await expect(session.send('Hello?')).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(await event('error')).toMatchObject({ errorCode: 'LEASE_LOST' })
    await session.ended
    await waitUntil(() => !connection.isOpen)
  })

  test('when a store fails, without a second error', async () => {
    const sessionService = new InMemorySessionService()
    const { runner } = liveRunner([], { sessionService })
    const { session, connection, events, event } = await startLive({ runner, reconnect: QUICK })
    sessionService.append = () => Promise.reject(new ToolwrightError('STORAGE', 'The disk is full.'))
    connection.say('Hi.')
    connection.turnComplete()
    await event('closed')
    expect(events.filter(({ type }) => type === 'error')).toMatchObject([{ errorCode: 'STORAGE' }])
    await session.ended
  })
})

test('a session of its own runner leaves nothing behind after reconnects and calls', async () => {
  const nothingLeft = expectNothingLeft()
  const server = await startServer()
  const slow = slowTool()
  slow.finish()
  const session = await connectTo(server.url, { tools: [slow.tool], reconnect: QUICK })
  const { event } = collect(session)
  for (let at = 0; at < 3; at++) {
    const connection = await server.nextConnection()
    connection.call([{ id: `c${at}`, name: 'look_up', args: {} }])
    await connection.next('toolResponse')
    connection.drop()
    await event('resumed')
  }
  await session.close()
  await server.close()
  await nothingLeft()
  expect(session.openCalls).toBe(0)
})
