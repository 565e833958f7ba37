// Plugins whose onEvent rewrites events: they change content, never control flow.
import {
  type Agent,
  approve,
  createEvent,
  deny,
  type Event,
  InMemorySessionService,
  type Plugin,
  type SessionService,
} from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import {
  finalResponses,
  historyProblems,
  refundReply,
  refundTool,
  requestFor,
  runnerOf,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { limitAppends, readEvents } from './bounded-store.ts'
import { plainTool } from './kit.ts'

const timeout = { timeout: 10_000 }
type OnEvent = Required<Plugin>['onEvent']

const plugins = (onEvent: OnEvent): { plugins: Plugin[] } => ({ plugins: [{ name: 'meddler', onEvent }] })
const rewrite = (event: Event, from: RegExp, to: string): Event => JSON.parse(JSON.stringify(event).replace(from, to))
const isOfUser = ({ author }: Event): boolean => author === 'user'

/** Replaces the event with a new one that has only its content. */
const replaceEvent: OnEvent = ({ event }) => createEvent(event.content ? { content: event.content } : {})

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test.each<[string, OnEvent]>([
    ['replaces events', replaceEvent],
    ['replaces all events but the user’s', (one) => (isOfUser(one.event) ? undefined : replaceEvent(one))],
    [
      'removes responses',
      ({ event }) => (event.content?.role === 'tool' ? { ...event, content: { role: 'tool', parts: [] } } : undefined),
    ],
    ['sets one id on all calls', ({ event }) => rewrite(event, /"id":"c\d"/g, '"id":"x"')],
    ['renames calls', ({ event }) => rewrite(event, /"name":"act"/g, '"name":"refund"')],
    [
      'removes content',
      ({ event }) => {
        const { content: _, ...rest } = event
        return isOfUser(event) ? undefined : rest
      },
    ],
    [
      'replaces content with text',
      ({ event }) =>
        isOfUser(event) ? undefined : { ...event, content: { role: 'model', parts: [{ text: 'done' }] } },
    ],
    [
      'changes the role to user',
      ({ event }) =>
        isOfUser(event) || !event.content ? undefined : { ...event, content: { ...event.content, role: 'user' } },
    ],
    [
      'sets endOfAgent, escalate and transferToAgent',
      ({ event }) => ({ ...event, actions: { endOfAgent: true, escalate: true, transferToAgent: 'x' } }),
    ],
  ])('completes the run and runs bodies once with a plugin that %s', timeout, async (_what, onEvent) => {
    const store = limitAppends(newStore())
    const run = vi.fn((args: unknown) => ({ got: args }))
    const calls = [1, 2].map((n) => ({ id: `c${n}`, name: 'act', args: { n } }))
    const { runner, model } = startProcess(store, {
      tools: [plainTool('act', run)],
      steps: [{ calls }, 'done'],
      runner: plugins(onEvent),
    })
    expect(await sendMessage(runner)).toMatchObject({ text: 'done', error: undefined })
    expect(run.mock.calls.map(([args]) => args)).toEqual([{ n: 1 }, { n: 2 }])
    expect(finalResponses(await storedEvents(store))).toEqual({ c1: { got: { n: 1 } }, c2: { got: { n: 2 } } })
    expect(model.requests).toHaveLength(2)
  })

  test('completes a custom agent with a plugin that replaces events', timeout, async () => {
    const root: Agent = {
      name: 'root',
      async *run() {
        yield createEvent({ content: { role: 'model', parts: [{ text: 'hi' }] } })
      },
    }
    expect((await sendMessage(runnerOf(limitAppends(newStore()), root, plugins(replaceEvent)))).text).toBe('hi')
  })

  test(
    'pauses and resumes with a plugin that replaces events, and hides the request from the model',
    timeout,
    async () => {
      const { refund, run } = refundTool()
      const { runner, model } = startProcess(limitAppends(newStore()), {
        tools: [refund],
        steps: [refundReply(5), 'done'],
        runner: plugins(replaceEvent),
      })
      const { pending } = await sendMessage(runner)
      expect(await sendMessage(runner, [approve(requestFor(pending))])).toMatchObject({
        text: 'done',
        error: undefined,
      })
      expect(run).toHaveBeenCalledOnce()
      expect(historyProblems(model.requests[1]?.contents ?? [])).toEqual([])
    },
  )

  test('cancels a paused run with a plugin that replaces events', timeout, async () => {
    const { refund, run } = refundTool()
    const { runner, model } = startProcess(limitAppends(newStore()), {
      tools: [refund],
      steps: [refundReply(5), 'fine'],
      runner: plugins(replaceEvent),
    })
    const { pending } = await sendMessage(runner)
    await runner.cancel(where)
    expect((await sendMessage(runner, 'next')).text).toBe('fine')
    expect(historyProblems(model.requests[1]?.contents ?? [])).toEqual([])
    await expect(sendMessage(runner, [approve(requestFor(pending))])).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(run).not.toHaveBeenCalled()
  })

  test.each([
    ['a denial into an approval', /"confirmed":false/g, '"confirmed":true', deny, 0],
    ['an approval into a denial', /"confirmed":true/g, '"confirmed":false', approve, 1],
  ] as const)('does not let a plugin turn %s', timeout, async (_what, from, to, decide, times) => {
    const { refund, run } = refundTool()
    const onEvent: OnEvent = ({ event }) => rewrite(event, from, to)
    const { runner } = startProcess(newStore(), {
      tools: [refund],
      steps: [refundReply(5), 'done'],
      runner: plugins(onEvent),
    })
    const { pending } = await sendMessage(runner)
    expect((await sendMessage(runner, [decide(requestFor(pending))])).text).toBe('done')
    expect(run).toHaveBeenCalledTimes(times)
  })
})

test('the runner does not run a call that a plugin adds to an event without content', async () => {
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
    startProcess(sessions, {
      tools: [plainTool('act', run)],
      steps: ['one'],
      agent: { beforeAgent: ({ context }) => void context.state.set('b', 1) },
      runner: { ports: { now: () => now }, plugins },
    }).runner
  void make(dying, [{ name: 'p', onEvent }]).run({ ...where, message: 'go', runConfig: { detach: true } })
  await vi.waitFor(async () => expect(await storedEvents(store)).toHaveLength(2))
  now += 60_000
  for (const one of await make(store, []).recover()) await readEvents(one)
  expect(run).not.toHaveBeenCalled()
})
