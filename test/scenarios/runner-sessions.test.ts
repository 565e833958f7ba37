import { type Event, InMemorySessionService, LlmAgent, Runner } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { stores } from '../stores.ts'
import { createDeferred, plainTool, recordingLogger } from './kit.ts'

test('the runner rejects a message to a busy session with SESSION_BUSY, and the running run completes', async () => {
  const begun = createDeferred()
  const held = createDeferred()
  const model = scriptedModel([
    async () => {
      begun.resolve()
      await held.promise
      return 'first'
    },
    'third',
  ])
  const agent = new LlmAgent({ name: 'agent', model })
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'app', agent, sessionService })
  const other = new Runner({ appName: 'app', agent, sessionService })
  const send = (who: Runner, message: string) => who.complete({ userId: 'ada', sessionId: 's1', message })
  const first = send(runner, 'one')
  await begun.promise
  await expect(send(runner, 'two')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  await expect(send(other, 'two')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
  held.resolve()
  expect((await first).text).toBe('first')
  expect((await send(other, 'three')).text).toBe('third')
  const session = await sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
  expect(session?.events.map(({ content }) => content?.parts[0]?.text)).toEqual(['one', 'first', 'three', 'third'])
})

test.each(stores)(
  'two first messages of one session at once: one is answered, one is SESSION_BUSY, with sessions $name',
  async ({ open }) => {
    const answered = createDeferred()
    const model = scriptedModel([() => answered.promise.then(() => 'Hello.')])
    const { sessionService } = open()
    const agent = new LlmAgent({ name: 'agent', model })
    const runner = new Runner({ appName: 'app', agent, sessionService })
    const send = () => runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi.' })
    const both = [send(), send()].map((one) =>
      one.then(
        ({ text }) => text,
        ({ code }) => code,
      ),
    )
    expect(await Promise.race(both)).toBe('SESSION_BUSY')
    answered.resolve()
    expect((await Promise.all(both)).sort()).toEqual(['Hello.', 'SESSION_BUSY'])
  },
)

test('two runners over one store share the events of a session', async () => {
  const model = scriptedModel(['a', 'b', 'c'])
  const agent = new LlmAgent({ name: 'agent', model })
  const sessionService = new InMemorySessionService()
  const runners = [1, 2].map(() => new Runner({ appName: 'app', agent, sessionService }))
  for (const [at, message] of ['one', 'two', 'three'].entries()) {
    await runners[at % 2]?.complete({ userId: 'ada', sessionId: 's1', message })
  }
  expect(model.requests[2]?.contents.map(({ parts }) => parts[0]?.text)).toEqual(['one', 'a', 'two', 'b', 'three'])
})

test('the runner keeps a hundred simultaneous conversations apart', async () => {
  const echo = plainTool('echo', async (args, { state, invocation }) => {
    await Promise.resolve()
    state.set('mine', invocation.userId)
    return { args, of: invocation.session.id }
  })
  const model = {
    name: 'echo',
    async *generate({ contents }: { contents: readonly { role: string; parts: readonly object[] }[] }) {
      await Promise.resolve()
      const history = JSON.stringify(contents)
      const own = /#\d+#/.exec(history)?.[0]
      const isLast = contents.at(-1)?.role === 'tool'
      yield isLast
        ? { content: { role: 'model' as const, parts: [{ text: [...new Set(history.match(/#\d+#/g))].join() }] } }
        : { content: { role: 'model' as const, parts: [{ functionCall: { name: 'echo', args: { own } } }] } }
    },
  }
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [echo] }) })
  const run = async (n: number) => {
    const who = `#${n}#`
    const events: Event[] = []
    const started = runner.run({ userId: who, sessionId: `s${n}`, message: `I am ${who}` })
    for await (const event of started) events.push(event)
    expect(events).toHaveLength(3)
    expect(events.every(({ invocationId }) => invocationId === started.invocationId)).toBe(true)
    expect(events.at(-1)?.content?.parts[0]?.text).toBe(who)
    const session = await runner.sessionService.getSession({ appName: 'app', userId: who, sessionId: `s${n}` })
    expect(session?.state).toEqual({ mine: who })
    return events.map(({ id }) => id)
  }
  const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => run(n)))
  expect(new Set(ids.flat()).size).toBe(300)
})

test('the runner keeps sessions with one id of two users apart', async () => {
  const model = scriptedModel(['to ada', 'to bob', 'to ada again'])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }) })
  const send = (userId: string, stateDelta?: { [key: string]: unknown }) =>
    runner.complete({ userId, sessionId: 'same', message: `I am ${userId}`, stateDelta })
  await send('ada', { secret: 'hers', 'user:name': 'Ada' })
  await send('bob')
  await send('ada')
  expect(JSON.stringify(model.requests[1]?.contents)).not.toContain('ada')
  expect(JSON.stringify(model.requests[2]?.contents)).not.toContain('bob')
  const bob = await runner.sessionService.getSession({ appName: 'app', userId: 'bob', sessionId: 'same' })
  expect(bob?.state).toEqual({})
})

test('the runner shares user: state between the sessions of a user, and session state with none', async () => {
  const runner = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'agent', model: scriptedModel(['ok', 'ok']), instruction: '{user:name} {mood?}' }),
    logger: recordingLogger(),
  })
  const stateDelta = { 'user:name': 'Ada', mood: 'good' }
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go', stateDelta })
  const second = await runner.complete({ userId: 'ada', sessionId: 's2', message: 'Go' })
  expect(second.error).toBeUndefined()
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's2' })
  expect(session?.state).toEqual({ 'user:name': 'Ada' })
})

test('the runner fails the run when an append fails, and yields nothing that is not stored', async () => {
  const sessionService = new InMemorySessionService()
  const append = sessionService.append.bind(sessionService)
  let appends = 0
  sessionService.append = async (...args) => {
    if (++appends === 2) throw new Error('disk full')
    return await append(...args)
  }
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['lost']) })
  const runner = new Runner({ appName: 'app', agent, sessionService, logger: recordingLogger() })
  const events: Event[] = []
  await expect(async () => {
    for await (const event of runner.run({ userId: 'ada', sessionId: 's1', message: 'Go' })) events.push(event)
  }).rejects.toThrow('disk full')
  expect(events).toEqual([])
})

test('the runner rejects resume of a session without pending work or of an unknown session', async () => {
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model: scriptedModel(['ok']) }) })
  const resume = async (sessionId: string) => {
    for await (const _ of runner.resume({ userId: 'ada', sessionId }));
  }
  await expect(resume('unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
  await expect(resume('s1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
