// Runs that die, stand still, are cancelled at the wrong moment, or wait behind others.
import { approve, type HeldLog, longRunning, type Plugin, type Ports, type SessionService, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { about, answer, finals, process, refunds, refundTool, say, stored, stores, where } from './approvals-kit.ts'
import { read } from './hostile-bounded.ts'
import { type Clock, clockedStores, LEASE_MS } from './hostile-kit.ts'
import { bare, signalled } from './kit.ts'

const timeout = { timeout: 10_000 }

/** The store with some of its methods done otherwise. */
function changed(store: SessionService, how: Partial<Record<keyof SessionService, (go: () => unknown) => unknown>>) {
  return new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      const way = how[member as keyof SessionService]
      return (...args: unknown[]) => (way ? way(() => value.apply(target, args)) : value.apply(target, args))
    },
  })
}

/** The store as a process sees it that is gone at its n-th append. */
function dying(store: SessionService, at: number): SessionService {
  let appends = 0
  return changed(store, { append: (go) => (++appends < at ? go() : new Promise(() => {})), release: () => undefined })
}

/** As over a wire: what is read is a copy. */
function overAWire(store: SessionService): SessionService {
  const copied = async (go: () => unknown) => {
    const { entries, ...log } = (await go()) as HeldLog
    return { ...log, entries: structuredClone(entries) }
  }
  return changed(store, { read: copied })
}

/** A clock in hand; waits are twenty times as short, and nobody renews a lease. */
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

describe.each(clockedStores)('%s', (_name, newStore) => {
  test('a yes whose process died before the body is carried out when it is said again, once', timeout, async () => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const { refund, run } = refundTool()
    const { pending } = await say(process(store, { tools: [refund], steps: [refunds(5)], runner }).runner)
    const message = [approve(about(pending))]
    const dead = process(dying(store, 2), { tools: [refund], runner }).runner // the yes is stored, the intent is not
    void dead.run({ ...where, message, runConfig: { detach: true } })
    await vi.waitFor(async () => expect((await stored(store)).at(-1)?.author).toBe('user'))
    clock.time += LEASE_MS
    const next = process(store, { tools: [refund], steps: ['done'], runner }).runner
    expect(await say(next, message)).toMatchObject({ text: 'done', pending: [] })
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(await next.recover()).toEqual([])
  })

  test('what could not be read once is found again when it can', timeout, async () => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const dead = process(dying(store, 3), { tools: [refund], steps: [refunds(5)], runner }).runner
    void dead.run({ ...where, message: 'go', runConfig: { detach: true } })
    await vi.waitFor(async () => expect(await stored(store)).toHaveLength(2))
    clock.time += LEASE_MS
    let isBusy = true
    const flaky = changed(store, { read: async (go) => (isBusy ? Promise.reject(new Error('busy')) : go()) })
    const next = process(flaky, { tools: [refund], steps: ['done'], runner }).runner
    expect(await next.recover()).toEqual([])
    isBusy = false
    for (const one of await next.recover()) await read(one)
    expect(run).toHaveBeenCalledOnce()
  })

  test('who stood still does not refuse an answer that the present holder takes', timeout, async () => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const { refund, run } = refundTool()
    const [begun, stuck, letGo] = [signalled(), signalled(), signalled()]
    const work = (body: () => unknown) => bare('work', body, { effect: 'idempotent' })
    const steps = [{ calls: [{ id: 'c2', name: 'work' }] }, 'never']
    const hangs = work(() => {
      begun.resolve()
      return stuck.promise
    })
    const old = process(overAWire(store), { tools: [refund, hangs], steps, runner }).runner
    const first = say(old).catch(({ code }) => code)
    await begun.promise
    clock.time += LEASE_MS // another takes over, and asks something while it works
    const calls = [
      { id: 'c3', name: 'refund', args: { amount: 7 } },
      { id: 'c4', name: 'work' },
    ]
    let times = 0
    const works = work(() => (++times === 1 ? {} : letGo.promise))
    const second = process(store, { tools: [refund, works], steps: [{ calls }, 'done'], runner }).runner
    const going = read(second.resume(where))
    const request = await vi.waitFor(async () => about(await store.pending({ appName: 'app' })), { timeout: 5_000 })
    const post = vi.spyOn(store, 'post')
    const answering = say(old, [approve(request)])
    await vi.waitFor(() => expect(post).toHaveResolved())
    letGo.resolve()
    await going
    stuck.resolve()
    expect(await first).toBe('LEASE_LOST')
    expect((await answering).text).toBe('done')
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 7 })
  })

  test.each([
    ['does not begin when another runner has cancelled', true],
    ['begins when nobody has', false],
  ])('the next body %s meanwhile', timeout, async (_what, isCancelled) => {
    const clock = { time: 1_000_000 }
    const store = newStore(clock)
    const runner = { ports: portsOf(clock) }
    const [begun, letGo] = [signalled(), signalled()]
    const slow = bare('slow', async () => {
      begun.resolve()
      await letGo.promise
      return { slow: true }
    })
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const steps = [{ calls: [{ id: 's1', name: 'slow' }] }, refunds(5), 'done']
    const saying = say(process(store, { tools: [slow, refund], steps, runner }).runner)
    await begun.promise
    if (isCancelled) await process(store, { runner }).runner.cancel(where)
    clock.time += 1_000 // it looks into its inbox between two steps, but not all the time
    letGo.resolve()
    const { text, error } = await saying
    expect(error?.code ?? text).toBe(isCancelled ? 'CANCELLED' : 'done')
    expect(run).toHaveBeenCalledTimes(isCancelled ? 0 : 1)
  })
})

describe.each(stores)('%s', (_name, newStore) => {
  test.each(['runner', 'run'] as const)(
    'a cancel by the %s counts while what waits comes to rest',
    timeout,
    async (who) => {
      const store = newStore()
      const { refund, run } = refundTool()
      const [ending, goOn] = [signalled(), signalled()]
      const afterRun = async () => {
        ending.resolve()
        await goOn.promise
      }
      const plugins: Plugin[] = [{ name: 'slow', afterRun }]
      const { runner } = process(store, { tools: [refund], steps: [refunds(5), 'done'], runner: { plugins } })
      const first = runner.run({ ...where, message: 'go' })
      const reading = read(first)
      await ending.promise
      const cancelling = who === 'runner' ? runner.cancel(where) : first.cancel()
      await new Promise((resolve) => setImmediate(resolve)) // it is under way
      goOn.resolve()
      await cancelling
      await reading
      expect(await runner.pending()).toEqual([])
      expect((await stored(store)).filter(({ errorCode }) => errorCode === 'CANCELLED')).toHaveLength(1)
      expect(finals(await stored(store)).c1).toMatchObject({ errorCode: 'CANCELLED' })
      expect(run).not.toHaveBeenCalled()
    },
  )

  test('who waits behind another invocation can be cancelled; the other goes on', timeout, async () => {
    const store = newStore()
    const [begun, letGo] = [signalled(), signalled()]
    const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ status: 'ordered' }) }))
    const work = bare('work', async () => {
      begun.resolve()
      await letGo.promise
      return { worked: true }
    })
    const steps = [{ calls: [{ id: 'a', name: 'order' }] }, { calls: [{ id: 'b', name: 'work' }] }, 'worked']
    const { runner } = process(store, { tools: [order, work], steps })
    await say(runner)
    const working = say(runner, 'meanwhile')
    await begun.promise
    const post = vi.spyOn(store, 'post')
    const waiting = runner.run({ ...where, message: [answer('a', { box: 1 }, 'order')] })
    const reading = read(waiting)
    await vi.waitFor(() => expect(post).toHaveResolved())
    await waiting.cancel() // while the other still works
    expect(await reading).toEqual([])
    letGo.resolve()
    expect((await working).text).toBe('worked')
  })
})
