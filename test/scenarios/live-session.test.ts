// The life of a live session: how it starts, what it accepts, which hooks see it, and how it ends.
import { exitLoop, type JsonObject, LlmAgent, Runner, SequentialAgent, toolSource, withParts } from 'toolwright'
import { geminiLive } from 'toolwright/gemini'
import { connectLive, type LiveMessage } from 'toolwright/live'
import { geminiLiveServer, scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { plainTool, silentLogger, waitUntil } from './kit.ts'
import { callTool, flushed, liveRunner, nextResponse, startStrict, storedEvents } from './live-calls-kit.ts'
import { startLive } from './live-kit.ts'

describe('a live session that cannot start', () => {
  test('because its agent is no LlmAgent names the agent, and a text run may use the session', async () => {
    const one = new LlmAgent({ name: 'one', model: scriptedModel(['Done.']) })
    const agent = new SequentialAgent({ name: 'steps', subAgents: [one] })
    const runner = new Runner({ appName: 'app', agent, logger: silentLogger })
    const where = { userId: 'ada', sessionId: 's1' }
    await expect(startLive({ runner, ...where })).rejects.toThrow('Agent "steps" cannot speak in a live session')
    expect((await runner.complete({ ...where, message: 'go' })).text).toBe('Done.')
  })

  test('because the key is wrong frees the session for the next attempt', async () => {
    const { runner } = liveRunner([])
    const server = await geminiLiveServer({ apiKey: 'right-key' })
    onTestFinished(() => server.close())
    const connect = (apiKey: string) =>
      connectLive({ runner, userId: 'ada', sessionId: 's1', model: geminiLive('m', { apiKey, baseUrl: server.url }) })
    await expect(connect('wrong-key')).rejects.toThrow('Check the API key')
    const session = await connect('right-key')
    await session.close()
  })

  test('because its signal is aborted opens no connection', async () => {
    const onConnection = vi.fn()
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(startLive({ signal, server: { onConnection } })).rejects.toThrow('too late')
    expect(onConnection).not.toHaveBeenCalled()
  })

  test.each<[string, JsonObject, string]>([
    ['with both a runner and tools', { runner: liveRunnerFor(), tools: [] }, 'got both runner and tools'],
    ['with an unknown option', { tool: [] }, 'unknown option "tool"'],
    ['with a wrong scheduling', { background: { x: { scheduling: 'LATER' } } }, 'scheduling'],
  ])('%s says what to change', async (_, options, problem) => {
    await expect(startLive(options)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining(problem),
    })
  })
})

function liveRunnerFor(): Runner {
  return new Runner({ appName: 'app', agent: new LlmAgent({ name: 'desk', model: scriptedModel([]) }) })
}

describe('session.send()', () => {
  const circular: JsonObject = { text: 'x' }
  circular.self = circular
  test.each<[string, unknown, string]>([
    ['an empty text', ' ', 'INVALID_REQUEST'],
    ['nothing', undefined, 'INVALID_REQUEST'],
    ['an unknown object', { sound: 1 }, 'INVALID_REQUEST'],
    ['audio as text', { audio: 'AAAA' }, 'INVALID_REQUEST'],
    ['audio of another type', { audio: new Uint8Array(2), mimeType: 'text/plain' }, 'INVALID_REQUEST'],
    ['too much audio', { audio: new Uint8Array(2 * 1024 * 1024) }, 'TOO_LARGE'],
    ['a message of the model', { content: { role: 'model', parts: [{ text: 'I agree.' }] } }, 'INVALID_REQUEST'],
    ['a message without parts', { content: { role: 'user', parts: [] } }, 'INVALID_REQUEST'],
    ['a call', { content: { role: 'user', parts: [{ functionCall: { name: 'x', args: {} } }] } }, 'INVALID_REQUEST'],
    ['a message that is no JSON', { content: { role: 'user', parts: [circular] } }, 'INVALID_REQUEST'],
    ['a text that is too large', 'x'.repeat(40_000_000), 'TOO_LARGE'],
  ])('refuses %s, and the session goes on', async (_, message, code) => {
    const { session, connection } = await startStrict()
    await expect(session.send(message as LiveMessage)).rejects.toMatchObject({ code })
    await session.send('hello')
    expect(await connection.next('realtimeInput')).toEqual({ realtimeInput: { text: 'hello' } })
  })

  test('keeps the order of messages that are not awaited', async () => {
    const { runner } = liveRunner([])
    const { session, connection } = await startStrict({ runner })
    const texts = Array.from({ length: 20 }, (_, at) => `message ${at}`)
    await Promise.all(texts.map((text) => session.send(text)))
    await flushed(session, connection)
    expect(connection.conversation.turns).toEqual(texts)
    const events = await storedEvents(runner, session)
    expect(events.map(({ content }) => content?.parts[0]?.text)).toEqual(texts)
  })
})

describe('a live session', () => {
  test('ends when its signal is aborted', async () => {
    const controller = new AbortController()
    const { session, event } = await startStrict({ signal: controller.signal })
    controller.abort()
    expect(await event('closed')).toMatchObject({ type: 'closed' })
    await session.ended
  })

  test('may be closed by one of its own tools', async () => {
    const closing: { close?: () => Promise<void> } = {}
    const { runner } = liveRunner([plainTool('hang_up', async () => await closing.close?.())])
    const { session, connection, event } = await startStrict({ runner, userId: 'ada' })
    closing.close = () => session.close()
    connection.call([{ id: 'c1', name: 'hang_up' }])
    await event('closed')
    expect(JSON.stringify(await storedEvents(runner, session))).toContain('Tool cancelled')
  })

  test('can be iterated once', async () => {
    const { session } = await startStrict() // the kit iterates it
    await expect(session[Symbol.asyncIterator]().next()).rejects.toThrow('A live session can be iterated once.')
  })

  test('lets hooks send messages and wait for them', async () => {
    const sending: { send?: (text: string) => Promise<void> } = {}
    const { session, connection } = await startStrict({
      tools: [plainTool('get', () => ({ ok: true }))],
      onToolCall: async () => void (await sending.send?.('from onToolCall')),
      beforeToolResponse: async ({ responses }) => {
        await sending.send?.('from beforeToolResponse')
        return responses
      },
    })
    sending.send = (text) => session.send(text)
    expect(await callTool(connection, 'get')).toEqual({ ok: true })
    expect(connection.conversation.turns).toEqual(['from onToolCall', 'from beforeToolResponse'])
  })

  test('calls plugins and callbacks of the runner', async () => {
    const seen: string[] = []
    const see = (name: string) => () => void seen.push(name)
    const { runner } = liveRunner([plainTool('get', (args: JsonObject) => ({ args }))], {
      plugins: [
        {
          name: 'watch',
          beforeRun: see('beforeRun'),
          afterRun: see('afterRun'),
          beforeTool: ({ args }) => ({ args: { ...args, added: true } }),
          afterTool: ({ result }) => ({ ...(result as JsonObject), checked: true }),
          onEvent: ({ event }) => void seen.push(`event of ${event.author}`),
        },
      ],
    })
    const { session, connection, event } = await startStrict({ runner })
    await session.send('go')
    expect(await callTool(connection, 'get')).toEqual({ args: { added: true }, checked: true })
    connection.say('Hi.')
    connection.turnComplete()
    await event('turnComplete')
    await session.close()
    expect(seen).toEqual(['beforeRun', 'event of user', ...Array(3).fill('event of desk'), 'afterRun'])
  })

  test('declares tools and instructions that depend on state as soon as a turn ends', async () => {
    const secret = plainTool('secret', () => ({ opened: true }))
    const agent = new LlmAgent({
      name: 'desk',
      instruction: 'Hello {name?}.',
      tools: [
        plainTool('login', (_, { state }) => state.set('name', 'Ada')),
        toolSource(({ state }) => (state.has('name') ? [secret] : [])),
      ],
    })
    const { connection } = await startStrict({ agent })
    expect(JSON.stringify(connection.setup)).not.toContain('secret')
    await callTool(connection, 'login')
    connection.turnComplete()
    const update = JSON.stringify(await connection.next('contextUpdate'))
    expect([update.includes('Hello Ada.'), update.includes('secret')]).toEqual([true, true])
    expect(await callTool(connection, 'secret')).toEqual({ opened: true })
  })

  test('goes on after a tool that ends a loop or skips the summary', async () => {
    const { connection, event } = await startStrict({
      tools: [
        exitLoop(),
        plainTool('final', (_, context) => {
          context.actions.skipSummarization = true
          return { ok: true }
        }),
      ],
    })
    await callTool(connection, 'exit_loop')
    expect(await callTool(connection, 'final', {}, 'c1')).toEqual({ ok: true })
    expect(await callTool(connection, 'final', {}, 'c2')).toEqual({ ok: true })
    connection.say('Bye.')
    connection.turnComplete()
    expect(await event('turnComplete')).toMatchObject({ event: { content: { parts: [{ text: 'Bye.' }] } } })
  })

  test('shows images of a result to the model, and none of a result that a hook withholds', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } }
    const draw = plainTool('draw', () => withParts({ drawn: true }, [image]))
    const { runner } = liveRunner([draw])
    const { connection, session } = await startStrict({
      runner,
      beforeToolResponse: ({ responses, state }) => (state.get('hide', false) ? [] : responses),
    })
    connection.call([{ id: 'c1', name: 'draw' }])
    expect(await connection.next('realtimeInput')).toEqual({
      realtimeInput: { video: { mimeType: 'image/png', bytes: 5 } },
    })
    expect(await nextResponse(connection)).toMatchObject({ response: { drawn: true } })
    session.state.set('hide', true)
    expect(await callTool(connection, 'draw', {}, 'c2')).toMatchObject({ errorCode: 'INVALID_RESULT' })
    const pictures = connection.received.filter((message) => JSON.stringify(message).includes('image/png'))
    expect(pictures).toHaveLength(1)
    expect(JSON.stringify(await storedEvents(runner, session)).split('aGVsbG8=')).toHaveLength(2)
  })

  test('records code that Gemini ran, and a text run sees it', async () => {
    const { runner } = liveRunner([])
    const { connection, session, event } = await startStrict({ runner })
    const part = (one: JsonObject) => connection.send({ serverContent: { modelTurn: { parts: [one] } } })
    part({ executableCode: { code: '1+1', language: 'PYTHON' } })
    part({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } })
    connection.outputTranscript('It is two.')
    connection.turnComplete()
    await event('turnComplete')
    const parts = (await storedEvents(runner, session)).flatMap(({ content }) => content?.parts ?? [])
    expect(parts.map((one) => Object.keys(one)[0])).toEqual(['executableCode', 'codeExecutionResult', 'text'])
  })

  test('survives a storm of interruptions: no call is left open, and the log has one response for each', async () => {
    const { runner } = liveRunner([
      plainTool(
        'work',
        (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({}))),
      ),
      plainTool('quick', () => ({ ok: true })),
    ])
    const { connection, session, events, event } = await startStrict({ runner })
    const rounds = 60
    for (let at = 0; at < rounds; at++) {
      connection.inputTranscript(`question ${at}`)
      connection.call([
        { id: `work-${at}`, name: 'work' },
        { id: `quick-${at}`, name: 'quick' },
      ])
      connection.audio(new Uint8Array(480))
      connection.outputTranscript(`answer ${at}`)
      connection.interrupted()
      connection.cancelCalls([`work-${at}`])
      connection.turnComplete()
    }
    for (let at = 0; at < rounds; at++) await event('turnComplete')
    await waitUntil(() => session.openCalls === 0)
    await session.close()
    const parts = (await storedEvents(runner, session)).flatMap(({ content }) => content?.parts ?? [])
    const answered = parts.flatMap(({ functionResponse }) => functionResponse?.id ?? [])
    expect(answered.toSorted()).toEqual(parts.flatMap(({ functionCall }) => functionCall?.id ?? []).toSorted())
    expect(answered).toHaveLength(2 * rounds)
    const spoken = parts.flatMap(({ text }) => text ?? [])
    expect(spoken).toEqual(Array.from({ length: rounds }, (_, at) => [`question ${at}`, `answer ${at}`]).flat())
    expect(events.filter(({ type }) => type === 'interrupted')).toHaveLength(rounds)
  })
})
