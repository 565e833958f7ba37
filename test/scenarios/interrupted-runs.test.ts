// Runs that crash, stall, are cancelled at an inconvenient moment, or wait for another run.
import {
  approve,
  InMemorySessionService,
  longRunning,
  type Plugin,
  type Ports,
  type SessionService,
  tool,
} from 'toolwright'
import type { HeldLog } from 'toolwright/store'
import { describe, expect, test, vi } from 'vitest'
import {
  answerPart,
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { readEvents } from './bounded-store.ts'
import { createDeferred, plainTool } from './kit.ts'
import { type Clock, clockedStores, LEASE_MS } from './lease-kit.ts'

const timeout = { timeout: 10_000 }

/** The store with some of its methods replaced. */
function withMethods(
  store: SessionService,
  how: Partial<Record<keyof SessionService, (go: () => unknown) => unknown>>,
) {
  return new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      const replacement = how[member as keyof SessionService]
      return (...args: unknown[]) =>
        replacement ? replacement(() => value.apply(target, args)) : value.apply(target, args)
    },
  })
}

/** The store of a process that hangs at its n-th append. */
function dying(store: SessionService, at: number): SessionService {
  let appends = 0
  return withMethods(store, {
    append: (go) => (++appends < at ? go() : new Promise(() => {})),
    release: () => undefined,
  })
}

/** The store of a remote process: it reads copies. */
function readingCopies(store: SessionService): SessionService {
  const copied = async (go: () => unknown) => {
    const { entries, ...log } = (await go()) as HeldLog
    return { ...log, entries: structuredClone(entries) }
  }
  return withMethods(store, { read: copied })
}

/** Ports with a settable clock; timers are twenty times as short, and no lease is renewed. */
function portsOf(clock: Clock): Partial<Ports> {
  return {
    now: () => clock.time,
    setTimer: (callback, ms, options) => {
      if (options?.background) return () => {}
      const timer = setTimeout(callback, ms / 20)
      return () => clearTimeout(timer)
    },
  }
}

describe.each(clockedStores)('the runner with sessions %s', (_name, newStore) => {
  test('runs an approved call once when the approval is sent again after its process died', timeout, async () => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const { refund, run } = refundTool()
    const { pending } = await sendMessage(
      startProcess(store, { tools: [refund], steps: [refundReply(5)], runner }).runner,
    )
    const message = [approve(requestFor(pending))]
    const dead = startProcess(dying(store, 2), { tools: [refund], runner }).runner // the approval is stored, the intent is not
    void dead.run({ ...where, message, runConfig: { detach: true } })
    await vi.waitFor(async () => expect((await storedEvents(store)).at(-1)?.author).toBe('user'))
    clock.time += LEASE_MS
    const next = startProcess(store, { tools: [refund], steps: ['done'], runner }).runner
    expect(await sendMessage(next, message)).toMatchObject({ text: 'done', pending: [] })
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(await next.recover()).toEqual([])
  })

  test('recovers a session whose log could not be read before', timeout, async () => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const dead = startProcess(dying(store, 3), { tools: [refund], steps: [refundReply(5)], runner }).runner
    void dead.run({ ...where, message: 'go', runConfig: { detach: true } })
    await vi.waitFor(async () => expect(await storedEvents(store)).toHaveLength(2))
    clock.time += LEASE_MS
    let isBusy = true
    const flaky = withMethods(store, { read: async (go) => (isBusy ? Promise.reject(new Error('busy')) : go()) })
    const next = startProcess(flaky, { tools: [refund], steps: ['done'], runner }).runner
    expect(await next.recover()).toEqual([])
    isBusy = false
    for (const one of await next.recover()) await readEvents(one)
    expect(run).toHaveBeenCalledOnce()
  })

  test('does not reject an answer in a stalled process when the current holder accepts it', timeout, async () => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const { refund, run } = refundTool()
    const [begun, stuck, letGo] = [createDeferred(), createDeferred(), createDeferred()]
    const work = (body: () => unknown) => plainTool('work', body, { effect: 'idempotent' })
    const steps = [{ calls: [{ id: 'c2', name: 'work' }] }, 'never']
    const hangs = work(() => {
      begun.resolve()
      return stuck.promise
    })
    const old = startProcess(readingCopies(store), { tools: [refund, hangs], steps, runner }).runner
    const first = sendMessage(old).catch(({ code }) => code)
    await begun.promise
    clock.time += LEASE_MS // another process takes over and requests a confirmation while its body runs
    const calls = [
      { id: 'c3', name: 'refund', args: { amount: 7 } },
      { id: 'c4', name: 'work' },
    ]
    let times = 0
    const works = work(() => (++times === 1 ? {} : letGo.promise))
    const second = startProcess(store, { tools: [refund, works], steps: [{ calls }, 'done'], runner }).runner
    const going = readEvents(second.resume(where))
    const request = await vi.waitFor(async () => requestFor(await store.pending({ appName: 'app' })), {
      timeout: 5_000,
    })
    const post = vi.spyOn(store, 'post')
    const answering = sendMessage(old, [approve(request)])
    await vi.waitFor(() => expect(post).toHaveResolved())
    letGo.resolve()
    await going
    stuck.resolve()
    expect(await first).toBe('LEASE_LOST')
    expect((await answering).text).toBe('done')
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 7 })
  })

  test.each([
    ['does not start the next body when another runner cancels during the previous body', true],
    ['starts the next body when no runner cancels during the previous body', false],
  ])('%s', timeout, async (_what, isCancelled) => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const [begun, letGo] = [createDeferred(), createDeferred()]
    const slow = plainTool('slow', async () => {
      begun.resolve()
      await letGo.promise
      return { slow: true }
    })
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const steps = [{ calls: [{ id: 's1', name: 'slow' }] }, refundReply(5), 'done']
    const completion = sendMessage(startProcess(store, { tools: [slow, refund], steps, runner }).runner)
    await begun.promise
    if (isCancelled) await startProcess(store, { runner }).runner.cancel(where)
    clock.time += 1_000 // the holder drains its inbox between steps, at most once a second
    letGo.resolve()
    const { text, error } = await completion
    expect(error?.code ?? text).toBe(isCancelled ? 'CANCELLED' : 'done')
    expect(run).toHaveBeenCalledTimes(isCancelled ? 0 : 1)
  })
})

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test.each(['runner', 'run'] as const)(
    'cancels a run that is about to pause, through the %s',
    timeout,
    async (who) => {
      const store = newStore()
      const { refund, run } = refundTool()
      const [ending, goOn] = [createDeferred(), createDeferred()]
      const afterRun = async () => {
        ending.resolve()
        await goOn.promise
      }
      const plugins: Plugin[] = [{ name: 'slow', afterRun }]
      const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done'], runner: { plugins } })
      const first = runner.run({ ...where, message: 'go' })
      const reading = readEvents(first)
      await ending.promise
      const cancelling = who === 'runner' ? runner.cancel(where) : first.cancel()
      await new Promise((resolve) => setImmediate(resolve)) // the cancel has started
      goOn.resolve()
      await cancelling
      await reading
      expect(await runner.pending()).toEqual([])
      expect((await storedEvents(store)).filter(({ errorCode }) => errorCode === 'CANCELLED')).toHaveLength(1)
      expect(finalResponses(await storedEvents(store)).c1).toMatchObject({ errorCode: 'CANCELLED' })
      expect(run).not.toHaveBeenCalled()
    },
  )

  test('cancels a run that waits for another invocation, and the other invocation completes', timeout, async () => {
    const store = newStore()
    const [begun, letGo] = [createDeferred(), createDeferred()]
    const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ status: 'ordered' }) }))
    const work = plainTool('work', async () => {
      begun.resolve()
      await letGo.promise
      return { worked: true }
    })
    const steps = [{ calls: [{ id: 'a', name: 'order' }] }, { calls: [{ id: 'b', name: 'work' }] }, 'worked']
    const { runner } = startProcess(store, { tools: [order, work], steps })
    await sendMessage(runner)
    const working = sendMessage(runner, 'meanwhile')
    await begun.promise
    const post = vi.spyOn(store, 'post')
    const waiting = runner.run({ ...where, message: [answerPart('a', { box: 1 }, 'order')] })
    const reading = readEvents(waiting)
    await vi.waitFor(() => expect(post).toHaveResolved())
    await waiting.cancel() // the other invocation still works
    expect(await reading).toEqual([])
    letGo.resolve()
    expect((await working).text).toBe('worked')
  })
})

test('the runner does not start the next sequential body after another runner has cancelled', async () => {
  const clock = { time: 1_000_000 }
  const store = new InMemorySessionService({ now: () => clock.time })
  const runner = { ports: { now: () => clock.time } }
  const [begun, letGo] = [createDeferred(), createDeferred()]
  const slow = plainTool(
    'slow',
    async () => {
      begun.resolve()
      await letGo.promise
      return {}
    },
    { effect: 'atMostOnce', sequential: true },
  )
  const run = vi.fn(() => ({}))
  const pay = plainTool('pay', run, { effect: 'atMostOnce', sequential: true })
  const steps = [
    {
      calls: [
        { id: 'c1', name: 'slow' },
        { id: 'c2', name: 'pay' },
      ],
    },
    'done',
  ]
  const completion = sendMessage(startProcess(store, { tools: [slow, pay], steps, runner }).runner)
  await begun.promise
  await startProcess(store, { runner }).runner.cancel(where)
  clock.time += 1_000
  letGo.resolve()
  expect((await completion).error?.code).toBe('CANCELLED')
  expect(run).not.toHaveBeenCalled()
})
