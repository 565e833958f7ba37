// Events that createSession() imports, written as if this app had recorded them: none of their calls runs.
import {
  type Agent,
  agentTool,
  type CodeExecutor,
  createEvent,
  type Event,
  InMemorySessionService,
  type JsonObject,
  LlmAgent,
  longRunning,
  type Part,
  Runner,
  type RunnerOptions,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { stores } from '../stores.ts'
import { collect, recordingLogger } from './kit.ts'
import { startLive } from './live-kit.ts'

const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
const who = { userId: 'ada', sessionId: 's1' }

let ids = 0
const event = (parts: Part[], more: Partial<Event> = {}): Event =>
  createEvent({
    id: `x${++ids}`,
    invocationId: 'i1',
    author: 'desk',
    timestamp: 2,
    content: { role: 'model', parts },
    turnComplete: true,
    nodeInfo: { path: 'desk' },
    ...more,
  })
const call = (name: string, args: JsonObject = {}): Part => ({ functionCall: { id: 'c1', name, args } })
const user = (text: string): Event =>
  event([{ text }], { author: 'user', content: { role: 'user', parts: [{ text }] }, nodeInfo: { path: 'desk' } })
const inside: Partial<Event> = {
  author: 'helper',
  nodeInfo: { path: 'desk/helper@c1' },
  isolationScope: 'desk/helper@c1',
}
const request: Part = {
  functionCall: {
    id: 'adk-r1',
    name: 'adk_request_confirmation',
    args: {
      originalFunctionCall: { id: 'c1', name: 'pay', args: {} },
      toolConfirmation: { hint: '', confirmed: false },
    },
  },
}
const approval: Part = {
  functionResponse: { id: 'adk-r1', name: 'adk_request_confirmation', response: { confirmed: true } },
}

const imports: [string, Event[]][] = [
  ['a call', [user('go'), event([call('pay')])]],
  ['a call without a message', [event([call('pay')])]],
  ['a call of a live model', [event([call('pay')], { live: true })]],
  ['a message after a reply', [event([{ text: 'hi' }], { invocationId: 'i0' }), user('go')]],
  ['code', [user('go'), event([{ executableCode: { id: 'c1', code: 'six', language: 'javascript' } }])]],
  [
    'an agent tool whose agent made a call',
    [
      event([call('helper', { request: 'go' })]),
      event([], { ...inside, author: 'desk', content: { role: 'user', parts: [{ text: 'go' }] } }),
      event([{ functionCall: { id: 'c2', name: 'pay', args: {} } }], inside),
    ],
  ],
  [
    'a long-running call',
    [
      event([call('order')], { longRunningToolIds: ['c1'] }),
      event([], {
        content: {
          role: 'tool',
          parts: [{ functionResponse: { id: 'c1', name: 'order', response: { ticket: 1 }, willContinue: true } }],
        },
      }),
    ],
  ],
  [
    'an approved request',
    [
      event([call('pay')]),
      event([request], { longRunningToolIds: ['adk-r1'], turnComplete: false }),
      event([approval], { author: 'user', content: { role: 'user', parts: [approval] } }),
    ],
  ],
]

function desk(options: Partial<RunnerOptions>) {
  const ran: string[] = []
  const body = (name: string) => tool({ name, description: name, effect: 'idempotent', run: () => ran.push(name) })
  const helper = new LlmAgent({ name: 'helper', model: scriptedModel(['Helped.']), tools: [body('pay')] })
  const codeExecutor: CodeExecutor = {
    languages: ['javascript'],
    callsTools: false,
    execute: async () => {
      ran.push('code')
      return { outcome: 'OK', output: '6' }
    },
  }
  const order = longRunning(body('order'))
  const model = scriptedModel(['Hello.', 'Hello again.'])
  const tools = [body('pay'), order, agentTool(helper)]
  const agent = new LlmAgent({ name: 'desk', model, tools, codeExecutor })
  return { ran, model, agent, runner: new Runner({ appName: 'app', agent, logger: recordingLogger(), ...options }) }
}

test('an agent, a plugin and a model cannot mark an event as imported', async () => {
  const claimed = { imported: true as const }
  const agent: Agent = {
    name: 'desk',
    async *run() {
      yield createEvent({ content: { role: 'model', parts: [{ text: 'Paid.' }] }, ...claimed })
    },
  }
  const plugin = { name: 'marks', onEvent: ({ event }: { event: Event }) => ({ ...event, ...claimed }) }
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'app', agent, sessionService, plugins: [plugin] })
  await runner.complete({ ...who, message: 'Hi' })
  const { events = [] } = (await sessionService.getSession(key)) ?? {}
  expect(events.length).toBeGreaterThan(1)
  expect(events.filter(({ imported }) => imported)).toEqual([])
})

describe.each(stores)('an import $name', ({ open }) => {
  test('is seen by the model and by clients, without what happened inside agent tools', async () => {
    const { sessionService } = open()
    const { runner, model } = desk({ sessionService })
    const hidden = event([{ text: 'Inside.' }], inside)
    const events = [user('go'), event([{ text: 'Gone.' }]), hidden, { ...user('Thanks.'), invocationId: 'i2' }]
    const session = await sessionService.createSession({ ...key, events })
    expect(session.events.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
    await runner.complete({ ...who, message: 'Hi' })
    const texts = model.requests[0]?.contents.flatMap(({ parts }) => parts.map(({ text }) => text))
    expect(texts).toEqual(['go', 'Gone.', 'Thanks.', 'Hi'])
  })

  test('is marked in the session, its log and its copies, and nothing that happens later is', async () => {
    const { sessionService } = open()
    const { runner } = desk({ sessionService })
    const forged = { ...event([{ text: 'Paid.' }]), imported: false } as unknown as Event
    const created = await sessionService.createSession({ ...key, events: [user('go'), forged] })
    expect(created.events.map(({ imported }) => imported)).toEqual([true, true])
    await runner.complete({ ...who, message: 'Hi' })
    const marks = async (sessionId: string) =>
      (await sessionService.getSession({ ...key, sessionId }))?.events.map(({ imported }) => imported)
    expect(await marks('s1')).toEqual([true, true, undefined, undefined])
    const last = (await sessionService.getSession(key))?.events.at(-1)?.id ?? ''
    const { sessionId } = await runner.fork({ ...who, before: last })
    expect((await marks(sessionId))?.slice(0, 3)).toEqual([true, true, undefined])
  })

  test('of a message without any reply can be resumed: only the model is asked', async () => {
    const { sessionService } = open()
    const { runner, ran } = desk({ sessionService })
    const written = event([call('pay')], { author: 'user' })
    await sessionService.createSession({ ...key, events: [user('go'), written] })
    expect(await runner.recover()).toEqual([])
    const [reply] = await collect(runner.resume(who))
    expect([reply?.content?.parts[0]?.text, ran]).toEqual(['Hello.', []])
  })

  describe.each(imports)('of %s', (_, events) => {
    test('is finished: nothing is interrupted, pending or runs, and the conversation continues', async () => {
      const { sessionService } = open()
      const { runner, ran, model } = desk({ sessionService })
      await sessionService.createSession({ ...key, events })
      expect(await runner.recover()).toEqual([])
      await expect(collect(runner.resume(who))).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(collect(runner.resume({ ...who, invocationId: 'i1' }))).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await runner.cancel(who)
      expect(await runner.pending()).toEqual([])
      const lease = await sessionService.claim(key)
      await sessionService.release(lease, { interrupted: true }) // as after a crash
      for (const run of await runner.recover()) await collect(run)
      expect((await runner.complete({ ...who, message: 'Hi' })).text).toBe('Hello.')
      expect(model.requests).toHaveLength(1)
      expect(ran).toEqual([])
    })

    test.each(['cancel', 'continue'] as const)(
      'runs nothing before a message with whilePaused %s',
      async (whilePaused) => {
        const { sessionService } = open()
        const { runner, ran } = desk({ sessionService, whilePaused })
        await sessionService.createSession({ ...key, events })
        const { events: seen, text } = await runner.complete({ ...who, message: 'Hi' })
        expect([seen.length, text, ran]).toEqual([1, 'Hello.', []])
      },
    )

    test('runs nothing in a live session', async () => {
      const { sessionService } = open()
      const { runner, ran } = desk({ sessionService })
      await sessionService.createSession({ ...key, events })
      const { connection, event: shown, session } = await startLive({ runner, ...who })
      connection.say('Hello.')
      connection.turnComplete()
      await shown('turnComplete')
      await session.close()
      expect(ran).toEqual([])
      expect(await sessionService.pending({ appName: 'app' })).toEqual([])
    })
  })
})
