// The event log of a live session: what it holds, and how text runs and later live sessions continue it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  background,
  type Event,
  InMemorySessionService,
  LlmAgent,
  Runner,
  type RunnerOptions,
  type Tool,
  textOf,
} from 'toolwright'
import type { LiveSession } from 'toolwright/live'
import { sqlite } from 'toolwright/sqlite'
import { geminiHistoryProblems, scriptedModel, strictModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { stores } from '../stores.ts'
import { createDeferred, plainTool, silentLogger, waitUntil } from './kit.ts'
import { callTool, nextResponse, startStrict, storedEvents } from './live-calls-kit.ts'
import { startLive } from './live-kit.ts'

const weather = plainTool('weather', () => ({ temperature: 22 }))

/** A runner of user ada with a model that replies with these texts. */
function deskRunner(replies: readonly string[], options: Partial<RunnerOptions> & { tools?: readonly Tool[] } = {}) {
  const { tools = [weather], ...others } = options
  const model = scriptedModel(replies)
  const agent = new LlmAgent({ name: 'desk', model: strictModel(model), tools })
  const runner = new Runner({ appName: 'app', agent, logger: silentLogger, ...others })
  onTestFinished(() => runner.close())
  return { runner, model }
}

/** What an event says, in one line. */
function lineOf({ author, content, interrupted, inputTranscription, outputTranscription }: Event): string {
  const parts = (content?.parts ?? []).map(({ text, functionCall, functionResponse }) =>
    functionCall ? `call ${functionCall.id}` : functionResponse ? `response ${functionResponse.id}` : text,
  )
  const heard = inputTranscription ? ' (heard)' : outputTranscription ? ' (spoken)' : ''
  return `${author}: ${parts.join(', ')}${heard}${interrupted ? ' (interrupted)' : ''}`
}

/** The responses of each call. */
function responsesIn(events: readonly Event[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { content } of events)
    for (const { functionCall, functionResponse } of content?.parts ?? []) {
      if (functionCall?.id && !functionCall.name.startsWith('adk_')) counts[functionCall.id] ??= 0
      const id = functionResponse?.id ?? ''
      if (functionResponse && !functionResponse.willContinue && id in counts) counts[id] = (counts[id] ?? 0) + 1
    }
  return counts
}

/** A short spoken conversation with one call. */
async function talk({ session, connection, event }: Awaited<ReturnType<typeof startLive>>): Promise<void> {
  connection.inputTranscript('Is it ')
  connection.inputTranscript('warm?', true)
  connection.call([{ id: 'c1', name: 'weather' }])
  await nextResponse(connection)
  connection.outputTranscript('It is ')
  connection.outputTranscript('22 degrees.', true)
  connection.audio(new Uint8Array(48))
  connection.generationComplete()
  connection.turnComplete({ totalTokenCount: 9 })
  await event('turnComplete')
  await session.send('Thanks!')
  connection.outputTranscript('You are wel')
  connection.interrupted()
  connection.turnComplete()
  await event('turnComplete')
}

const conversation = [
  'user: Is it warm? (heard)',
  'desk: call c1',
  'desk: response c1',
  'desk: It is 22 degrees. (spoken)',
  'user: Thanks!',
  'desk: You are wel (spoken) (interrupted)',
]

describe.each(stores)('with sessions $name, the log of a live session', (store) => {
  test('has the words of both, the calls and their responses, in order', async () => {
    const { runner } = deskRunner([], store.open())
    const started = await startLive({ runner, userId: 'ada' })
    await talk(started)
    await started.session.close()
    const events = await storedEvents(runner, started.session)
    expect(events.filter(({ content }) => content).map(lineOf)).toEqual(conversation)
    expect(events[0]?.inputTranscription).toEqual({ text: 'Is it warm?', finished: true })
    expect(events[3]).toMatchObject({
      outputTranscription: { text: 'It is 22 degrees.', finished: true },
      usageMetadata: { totalTokenCount: 9 },
    })
    expect(new Set(events.map(({ invocationId }) => invocationId))).toEqual(new Set([started.session.invocationId]))
    expect(started.server.problems).toEqual([])
  })

  test('shows each delta of a transcript, and the whole transcript once', async () => {
    const { runner } = deskRunner([], store.open())
    const started = await startLive({ runner, userId: 'ada' })
    await talk(started)
    const shown = started.events.flatMap((one) =>
      one.type === 'inputTranscript' || one.type === 'outputTranscript'
        ? [`${one.type} ${one.text}${one.finished ? ' (whole)' : ''}`]
        : [],
    )
    expect(shown).toEqual([
      'inputTranscript Is it ',
      'inputTranscript warm?',
      'inputTranscript Is it warm? (whole)',
      'outputTranscript It is ',
      'outputTranscript 22 degrees.',
      'outputTranscript It is 22 degrees. (whole)',
      'outputTranscript You are wel',
      'outputTranscript You are wel (whole)',
    ])
  })

  test('the log of a live session is the history of the next text run', async () => {
    const { runner, model } = deskRunner(['It was 22 degrees.'], store.open())
    const started = await startLive({ runner, userId: 'ada' })
    await talk(started)
    const { userId, sessionId } = started.session
    await started.session.close()
    const { text } = await runner.complete({ userId, sessionId, message: 'How warm was it?' })
    expect(text).toBe('It was 22 degrees.')
    const { contents = [] } = model.requests[0] ?? {}
    expect(contents.map(({ parts }) => parts.map((part) => part.text ?? Object.keys(part)[0]).join())).toEqual([
      'Is it warm?',
      'functionCall',
      'functionResponse',
      'It is 22 degrees.',
      'Thanks!',
      'You are wel',
      'How warm was it?',
    ])
    expect(geminiHistoryProblems(contents)).toEqual([])
  })

  test('continues a text run, whose history the live model gets without being asked to speak', async () => {
    const { runner } = deskRunner(['Hello Ada.'], store.open())
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'I am Ada.' })
    const { connection, session } = await startLive({ runner, userId: 'ada', sessionId })
    expect(await connection.next('clientContent')).toEqual({
      clientContent: {
        turns: [
          { role: 'user', parts: [{ text: 'I am Ada.' }] },
          { role: 'model', parts: [{ text: 'Hello Ada.' }] },
        ],
        turnComplete: false,
      },
    })
    expect(session.sessionId).toBe(sessionId)
  })

  test('has one response for each call when the session is closed, and nothing is pending', async () => {
    const hangs = () => new Promise(() => {})
    const { runner, model } = deskRunner(['Back.'], {
      ...store.open(),
      tools: [
        weather,
        plainTool('slow', hangs),
        background(plainTool('search', hangs)),
        plainTool('pay', () => ({}), { requiresConfirmation: true }),
        plainTool('ask', (_, context) => context.requestInput({ key: 'k', message: '?' })),
      ],
    })
    const { session, connection } = await startLive({
      runner,
      userId: 'ada',
      confirmationProvider: () => new Promise(() => {}),
    })
    connection.call(['weather', 'slow', 'search', 'pay', 'ask'].map((name) => ({ id: `c-${name}`, name })))
    await waitUntil(() => session.openCalls === 4)
    await session.close()
    const events = await storedEvents(runner, session)
    expect(responsesIn(events)).toEqual({ 'c-weather': 1, 'c-slow': 1, 'c-search': 1, 'c-pay': 1, 'c-ask': 1 })
    expect(await runner.pending({ userId: 'ada' })).toEqual([])
    const { text } = await runner.complete({ userId: 'ada', sessionId: session.sessionId, message: 'I am back.' })
    expect(text).toBe('Back.')
    expect(geminiHistoryProblems(model.requests[0]?.contents ?? [])).toEqual([])
  })
})

test('what the user says to interrupt a reply comes after it', async () => {
  const { runner } = deskRunner([])
  const { session, connection, event } = await startLive({ runner, userId: 'ada' })
  connection.inputTranscript('What do you sell?')
  connection.outputTranscript('We sell apples, ')
  connection.inputTranscript('Stop')
  connection.interrupted()
  connection.turnComplete()
  await event('turnComplete')
  connection.inputTranscript(' it, please.')
  connection.outputTranscript('All right.')
  connection.turnComplete()
  await event('turnComplete')
  expect((await storedEvents(runner, session)).map(lineOf)).toEqual([
    'user: What do you sell? (heard)',
    'desk: We sell apples,  (spoken) (interrupted)',
    'user: Stop it, please. (heard)',
    'desk: All right. (spoken)',
  ])
})

test('the end of what the user said is part of the message, although the model has begun to reply', async () => {
  const { runner } = deskRunner([])
  const { session, connection, event } = await startLive({ runner, userId: 'ada' })
  connection.inputTranscript('What do')
  connection.outputTranscript('We sell apples.')
  connection.inputTranscript(' you sell?')
  connection.turnComplete()
  await event('turnComplete')
  expect((await storedEvents(runner, session)).map(lineOf)).toEqual([
    'user: What do you sell? (heard)',
    'desk: We sell apples. (spoken)',
  ])
})

test('a session that is live refuses a text run and a second live session', async () => {
  const { runner } = deskRunner([])
  const { session } = await startLive({ runner, userId: 'ada' })
  const { userId, sessionId } = session
  await expect(runner.complete({ userId, sessionId, message: 'Hi' })).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  await expect(startLive({ runner, userId, sessionId })).rejects.toMatchObject({ code: 'SESSION_BUSY' })
})

test.each<[string, (runner: Runner, session: LiveSession) => Promise<void>, string]>([
  [
    'cancelling its run',
    (runner, { userId, sessionId }) => runner.cancel({ userId, sessionId }),
    'The run was cancelled.',
  ],
  ['closing the runner', (runner) => runner.close(), 'The runner was closed.'],
])('%s ends a live session, and each call has one response', async (_, end, reason) => {
  const started = createDeferred<AbortSignal>()
  const { runner } = deskRunner([], {
    tools: [
      plainTool('slow', (_args, { signal }) => {
        started.resolve(signal)
        return new Promise(() => {})
      }),
    ],
  })
  const { session, connection, event } = await startLive({ runner, userId: 'ada' })
  connection.call([{ id: 'c1', name: 'slow' }])
  const signal = await started.promise
  await end(runner, session)
  expect(await event('closed')).toMatchObject({ reason })
  await session.ended
  expect(signal.aborted).toBe(true)
  expect(responsesIn(await storedEvents(runner, session))).toEqual({ c1: 1 })
  await expect(session.send('hello')).rejects.toThrow('The live session is closed.')
})

test('a session whose tool hangs in its own cleanup closes anyway', async () => {
  const started = createDeferred()
  const stubborn = plainTool('stubborn', async function* () {
    try {
      started.resolve()
      await new Promise(() => {})
    } finally {
      yield await new Promise(() => {})
    }
  })
  const { session, connection } = await startStrict({ tools: [stubborn] })
  connection.call([{ id: 'c1', name: 'stubborn' }])
  await started.promise
  await session.close()
})

test('a session whose instruction hangs answers its calls and closes', async () => {
  let isHanging = false
  const agent = new LlmAgent({
    name: 'desk',
    instruction: () => (isHanging ? new Promise<string>(() => {}) : 'Help.'),
    tools: [weather],
  })
  const { session, connection, event } = await startStrict({ agent })
  isHanging = true
  connection.turnComplete() // reads the instruction again
  await event('turnComplete')
  expect(await callTool(connection, 'weather')).toEqual({ temperature: 22 })
  await session.close()
})

test('a second process continues the log of one that died during a live session', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'live-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'app.db')
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
  onTestFinished(() => void vi.useRealTimers())
  const started = createDeferred()
  const hang = plainTool(
    'charge',
    () => {
      started.resolve()
      return new Promise(() => {})
    },
    { effect: 'atMostOnce' },
  )
  const first = deskRunner([], { ...sqlite(path), tools: [hang, weather] })
  const { session, connection } = await startLive({ runner: first.runner, userId: 'ada' })
  await callTool(connection, 'weather', {}, 'c0')
  connection.call([{ id: 'c1', name: 'charge' }])
  await started.promise
  const { userId, sessionId } = session
  const second = deskRunner(['Let me check.', 'Hello again.'], { ...sqlite(path), tools: [hang, weather] })
  await expect(second.runner.complete({ userId, sessionId, message: 'Hi' })).rejects.toMatchObject({
    code: 'SESSION_BUSY',
  })
  vi.advanceTimersByTime(60_000) // the lease of the first process expires
  const [run] = await second.runner.recover()
  for await (const _ of run ?? []) void _
  const events = await storedEvents(second.runner, session)
  expect(responsesIn(events)).toEqual({ c0: 1, c1: 1 })
  expect(JSON.stringify(events)).toContain('may have taken effect')
  expect(events.map((event) => textOf(event.content ?? { role: 'user', parts: [] }))).toContain('Let me check.')
  const { text } = await second.runner.complete({ userId, sessionId, message: 'Are you there?' })
  expect(text).toBe('Hello again.')
})

test('a live session after a crash ends the work of the crashed one and goes on', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
  onTestFinished(() => void vi.useRealTimers())
  const started = createDeferred()
  const slow = plainTool('slow', () => {
    started.resolve()
    return new Promise(() => {})
  })
  const sessionService = new InMemorySessionService()
  const first = deskRunner([], { sessionService, tools: [slow, weather] })
  const dead = await startLive({ runner: first.runner, userId: 'ada' })
  await dead.session.send('Wait for me.')
  dead.connection.call([{ id: 'c1', name: 'slow' }])
  await started.promise
  vi.advanceTimersByTime(60_000)
  const second = deskRunner([], { sessionService, tools: [slow, weather] })
  const { userId, sessionId } = dead.session
  const { connection, session } = await startLive({ runner: second.runner, userId, sessionId })
  expect(JSON.stringify(await connection.next('clientContent'))).toContain('Wait for me.')
  expect(await callTool(connection, 'weather', {}, 'c2')).toEqual({ temperature: 22 })
  await session.close()
  expect(responsesIn(await storedEvents(second.runner, session))).toEqual({ c1: 1, c2: 1 })
})
