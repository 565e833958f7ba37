// Malformed messages, events and state at the edges of a session.
import { createEvent, getUserChoice, InMemorySessionService, type Plugin, type SessionService } from 'toolwright'
import { expect, test, vi } from 'vitest'
import { process, runnerOf, say, stored, where } from './approvals-kit.ts'
import { read } from './hostile-bounded.ts'
import { bare, signalled } from './kit.ts'

const key = { appName: 'app', ...where }

test('accepts the next message after a model replied with a null functionCall', async () => {
  const steps = [{ parts: [{ text: 'one' }, { functionCall: null as never }] }, 'two']
  const { runner } = process(new InMemorySessionService(), { steps })
  await say(runner)
  expect((await say(runner, 'again')).text).toBe('two')
})

test('lists the pending request of get_user_choice with its hint and schema', async () => {
  const args = { prompt: 'Which?', options: ['tea', 'coffee'] }
  const steps = [{ calls: [{ id: 'u1', name: 'get_user_choice', args }] }]
  const { runner } = process(new InMemorySessionService(), { tools: [getUserChoice()], steps })
  const { pending } = await say(runner)
  expect(await runner.pending()).toEqual(pending)
})

test('does not run a call that a plugin adds to an event without content', async () => {
  let now = 1_000_000
  const store = new InMemorySessionService({ now: () => now })
  const run = vi.fn(() => ({}))
  const functionCall = { id: 'zz', name: 'act', args: {} }
  const onEvent: Plugin['onEvent'] = ({ event }) =>
    event.content ? undefined : { ...event, content: { role: 'model', parts: [{ functionCall }] } }
  let appends = 0
  const dying = new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) =>
        appends >= 3 || (member === 'append' && ++appends >= 3) ? new Promise(() => {}) : value.apply(target, args)
    },
  })
  const make = (sessions: SessionService, plugins: Plugin[]) =>
    process(sessions, {
      tools: [bare('act', run)],
      steps: ['one'],
      agent: { beforeAgent: ({ context }) => void context.state.set('b', 1) },
      runner: { ports: { now: () => now }, plugins },
    }).runner
  void make(dying, [{ name: 'p', onEvent }]).run({ ...where, message: 'go', runConfig: { detach: true } })
  await vi.waitFor(async () => expect(await stored(store)).toHaveLength(2))
  now += 60_000
  for (const one of await make(store, []).recover()) await read(one)
  expect(run).not.toHaveBeenCalled()
})

test('ignores a text as state delta, from the inbox and from a custom agent', async () => {
  const store = new InMemorySessionService()
  const { runner } = process(store, { steps: ['one', 'two'] })
  await say(runner)
  await store.post(key, { id: 'i1', type: 'state', stateDelta: 'abc' as never })
  await say(runner)
  expect((await store.getSession(key))?.state).toEqual({})
  const other = new InMemorySessionService()
  const root = {
    name: 'root',
    run: async function* () {
      yield createEvent({ actions: { stateDelta: 'abc' } as never })
    },
  }
  await say(runnerOf(other, root)).catch(() => {})
  expect((await other.getSession(key))?.state).toEqual({})
})

test('rejects createSession with an event without actions', async () => {
  const made = new InMemorySessionService().createSession({
    ...key,
    events: [{ id: '1', invocationId: 'e', author: 'agent', timestamp: 1 } as never],
  })
  await expect(made).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

test('rejects a message of white space only', async () => {
  const { runner } = process(new InMemorySessionService(), { steps: ['one'] })
  await expect(say(runner, ' \n')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

test('does not start the next sequential body after another runner has cancelled', async () => {
  const clock = { time: 1_000_000 }
  const store = new InMemorySessionService({ now: () => clock.time })
  const runner = { ports: { now: () => clock.time } }
  const [begun, letGo] = [signalled(), signalled()]
  const slow = bare(
    'slow',
    async () => {
      begun.resolve()
      await letGo.promise
      return {}
    },
    { effect: 'atMostOnce', sequential: true },
  )
  const run = vi.fn(() => ({}))
  const pay = bare('pay', run, { effect: 'atMostOnce', sequential: true })
  const steps = [
    {
      calls: [
        { id: 'c1', name: 'slow' },
        { id: 'c2', name: 'pay' },
      ],
    },
    'done',
  ]
  const saying = say(process(store, { tools: [slow, pay], steps, runner }).runner)
  await begun.promise
  await process(store, { runner }).runner.cancel(where)
  clock.time += 1_000
  letGo.resolve()
  expect((await saying).error?.code).toBe('CANCELLED')
  expect(run).not.toHaveBeenCalled()
})
