// Calls that the model waits for take one response: what a body decides while it runs, and results that must not stop the model.
import { background, longRunning, type PendingRequest, type Runner, respond } from 'toolwright'
import { geminiLive } from 'toolwright/gemini'
import { geminiLiveServer, scriptedLive } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { createDeferred, plainTool } from './kit.ts'
import { flushed, liveRunner, nextResponse, received, startStrict, startWithCapabilities } from './live-calls-kit.ts'

const confirmed = async () => ({ confirmed: true })
const blocking = { nonBlocking: false }

const pay = plainTool('pay', (_, context) => {
  if (!context.toolConfirmation) return void context.requestConfirmation({ hint: 'Pay?' })
  return { paid: true }
})
const ship = plainTool('ship', (_, context) => {
  context.longRunning = true
  return { ticket: 7 }
})
/** The only request of the user. */
async function onlyRequest(runner: Runner): Promise<PendingRequest> {
  const [request] = await runner.pending({ userId: 'ada' })
  if (!request) throw new Error('Nothing is pending.')
  return request
}
const textOf = (message: unknown): string => JSON.stringify(message)

describe('a tool that is declared BLOCKING', () => {
  test('and asks for a confirmation gets one response: its result', async () => {
    const { connection, server, session } = await startStrict({ tools: [pay], confirmationProvider: confirmed })
    connection.call([{ id: 'c1', name: 'pay' }])
    expect(await nextResponse(connection)).toEqual({ id: 'c1', name: 'pay', response: { paid: true } })
    await flushed(session, connection)
    expect(received(server, 'c1')).toHaveLength(1)
  })

  test('and asks for a confirmation that is denied gets one response: the denial', async () => {
    const confirmationProvider = async () => ({ confirmed: false, hint: 'Too much.' })
    const { connection, server, session } = await startStrict({ tools: [pay], confirmationProvider })
    connection.call([{ id: 'c1', name: 'pay' }])
    expect(await nextResponse(connection)).toMatchObject({ id: 'c1', response: { errorCode: 'CANCELLED' } })
    await flushed(session, connection)
    expect(received(server, 'c1')).toHaveLength(1)
  })

  test('and starts long-running work gets the result as a message', async () => {
    const { runner } = liveRunner([ship])
    const { connection, server, session, event } = await startStrict({ runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'ship' }])
    expect(await nextResponse(connection)).toEqual({ id: 'c1', name: 'ship', response: { ticket: 7 } })
    connection.turnComplete()
    await event('toolResponse')
    await session.answer(respond(await onlyRequest(runner), { shipped: true }))
    expect(textOf(await connection.next('clientContent'))).toContain('The result of ship has arrived')
    expect(received(server, 'c1')).toHaveLength(1)
  })

  test('and reports news of long-running work gets them as messages', async () => {
    const { runner } = liveRunner([longRunning(plainTool('order', () => ({ ticket: 7 })))])
    const { connection, server, session, event } = await startWithCapabilities(blocking, { runner, userId: 'ada' })
    connection.call([{ id: 'c1', name: 'order' }])
    await nextResponse(connection)
    connection.turnComplete()
    await event('toolResponse')
    const request = await onlyRequest(runner)
    const news = { functionResponse: { id: request.id, name: 'order', response: { packed: true }, willContinue: true } }
    await session.answer(news)
    expect(textOf(await connection.next('clientContent'))).toContain('News of order has arrived')
    connection.say('It is packed.')
    connection.turnComplete()
    await session.answer(respond(request, { shipped: true }))
    expect(textOf(await connection.next('clientContent'))).toContain('The result of order has arrived')
    expect(received(server, 'c1')).toHaveLength(1)
  })

  test('gets the result of a gate that is declared NON_BLOCKING as a second response', async () => {
    const gated = { ...plainTool('refund', () => ({ refunded: true })), requiresConfirmation: true }
    const { connection } = await startStrict({ tools: [gated], confirmationProvider: confirmed })
    connection.call([{ id: 'c1', name: 'refund' }])
    expect(await nextResponse(connection)).toMatchObject({ response: { status: 'waiting' }, willContinue: true })
    expect(await nextResponse(connection)).toMatchObject({ response: { refunded: true }, willContinue: false })
  })
})

describe('the test servers notice a second response to a call that the model waits for', () => {
  const declared = { name: 'pay', description: 'Pays', parameters: { type: 'object' } } as const
  const response = { id: 'c1', name: 'pay', response: {} }

  test('scriptedLive() ends the connection', async () => {
    const model = scriptedLive([{ calls: [{ id: 'c1', name: 'pay' }] }, 'Paid.'])
    const connection = await model.connect({
      instruction: undefined,
      tools: [{ functionDeclarations: [declared] }],
      signal: new AbortController().signal,
    })
    const reading = (async () => {
      for await (const { type } of connection) {
        if (type !== 'toolCall') continue
        connection.send({ type: 'toolResponses', responses: [{ ...response, willContinue: true }] })
        connection.send({ type: 'toolResponses', responses: [response] })
      }
    })()
    connection.send({ type: 'text', text: 'Pay.' })
    await expect(reading).rejects.toThrow('Call "c1" of "pay" is BLOCKING and got a second response.')
    expect(model.problems).toHaveLength(1)
    expect(() => model.assertComplete()).toThrow('BLOCKING')
  })

  test('geminiLiveServer() reports a problem, and none for a NON_BLOCKING call', async () => {
    await using server = await geminiLiveServer()
    for (const behavior of ['BLOCKING', 'NON_BLOCKING'] as const) {
      const local = await geminiLive('gemini-live-test', { apiKey: 'any', baseUrl: server.url }).connect({
        instruction: undefined,
        tools: [{ functionDeclarations: [{ ...declared, ...(behavior === 'NON_BLOCKING' && { behavior }) }] }],
        signal: new AbortController().signal,
      })
      const remote = await server.nextConnection()
      remote.call([{ id: 'c1', name: 'pay' }])
      for (const willContinue of [true, false]) {
        local.send({ type: 'toolResponses', responses: [{ ...response, willContinue }] })
        await remote.next('toolResponse')
      }
      local.close()
    }
    expect(server.problems).toEqual([
      'Call "c1" is BLOCKING, so that its response must not have "willContinue".',
      'Call "c1" is BLOCKING and got a second response, which the model ignores.',
    ])
  })
})

describe('a background result for a model that waits for every call', () => {
  async function startSpeaking(scheduling: 'WHEN_IDLE' | 'SILENT' | 'INTERRUPT', sendHandles = true) {
    const done = createDeferred()
    const search = background(
      plainTool('search', () => done.promise.then(() => ({ hits: 3 }))),
      { scheduling },
    )
    const live = await startWithCapabilities(blocking, {
      tools: [search],
      reconnect: { delayMs: 1 },
      server: { sendHandles },
    })
    live.connection.call([{ id: 'c1', name: 'search' }])
    await nextResponse(live.connection)
    live.connection.audio(new Uint8Array(48_000))
    await live.event('audio')
    done.resolve()
    await live.event('toolResponse')
    await flushed(live.session, live.connection)
    return live
  }
  const messages = (connection: { readonly received: readonly object[] }): number =>
    connection.received.filter((message) => 'clientContent' in message).length

  test.each(['WHEN_IDLE', 'SILENT'] as const)('with %s waits until the model has spoken', async (scheduling) => {
    const { connection } = await startSpeaking(scheduling)
    expect(messages(connection)).toBe(0)
    connection.turnComplete()
    expect(await connection.next('clientContent')).toMatchObject({
      clientContent: { turnComplete: scheduling !== 'SILENT' },
    })
  })

  test('with INTERRUPT is sent at once', async () => {
    const { connection } = await startSpeaking('INTERRUPT')
    expect(textOf(await connection.next('clientContent'))).toContain('{\\"hits\\":3}')
  })

  test.each([
    ['resumes', true],
    ['starts anew', false],
  ])('that waits reaches a connection that %s once', async (_, sendHandles) => {
    const { connection, server, session, event } = await startSpeaking('WHEN_IDLE', sendHandles)
    connection.drop()
    const next = await server.nextConnection()
    await event('resumed')
    await next.next('clientContent')
    next.say('Three hits.')
    next.turnComplete()
    await event('turnComplete')
    await session.send('Thanks.')
    await next.next('realtimeInput')
    expect(next.handle !== undefined).toBe(sendHandles)
    expect(next.received.map(textOf).join().split('hits').length - 1).toBe(1)
  })
})
