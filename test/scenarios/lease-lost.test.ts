// A process that stalls past its lease and claims its session again: the run that lost the lease stops at once.
import { approve, InMemorySessionService, type SessionService, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import {
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  where,
} from './approvals-kit.ts'
import { createDeferred } from './kit.ts'

const key = { appName: 'app', ...where }

/** The store of a remote process: it reads copies, and the acknowledgement of an append can be delayed. */
function remoteStore(store: SessionService, hold: (at: number) => Promise<void> | undefined): SessionService {
  let appends = 0
  return new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        const result: unknown = await value.apply(target, args)
        if (member === 'append') await hold(++appends)
        if (member !== 'read') return result
        const { entries, ...log } = result as { entries: readonly unknown[] }
        return { ...log, entries: structuredClone(entries) }
      }
    },
  })
}

describe('a run that lost its lease to another run of the same runner', () => {
  test('shares no log with the newer run when it lost the lease before its start', async () => {
    let now = 1_000_000
    const store = new InMemorySessionService({ now: () => now, monotonicNow: () => now })
    await store.createSession(key)
    const [lateDrain, lateAppend] = [createDeferred(), createDeferred()]
    const [drained, appended] = [createDeferred(), createDeferred()]
    const seen = { drain: 0, append: 0 }
    const remote = new Proxy(store, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          if (member === 'inbox' && ++seen.drain === 1) {
            const items: unknown = await value.apply(target, args)
            drained.resolve()
            await lateDrain.promise // the first run stalls before its start
            return items
          }
          if (member === 'append' && ++seen.append === 1) {
            appended.resolve()
            await lateAppend.promise // the second run has started and appends its message
          }
          return await value.apply(target, args)
        }
      },
    })
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const ports = { now: () => now, monotonicNow: () => now }
    const { runner } = startProcess(remote, { tools: [refund], steps: [refundReply(5), 'done'], runner: { ports } })
    const first = sendMessage(runner, 'one')
    await drained.promise
    now += 60_000
    const second = sendMessage(runner, 'two')
    await appended.promise
    lateDrain.resolve()
    await expect(first).rejects.toMatchObject({ code: 'LEASE_LOST' })
    lateAppend.resolve()
    expect((await second).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
    expect(finalResponses(await storedEvents(store))).toEqual({ c1: { refunded: 5 } })
  })

  test('stops, and its late append acknowledgement runs no body twice', async () => {
    let now = 1_000_000
    const store = new InMemorySessionService({ now: () => now })
    const late = createDeferred()
    const { refund, run } = refundTool({ requiresConfirmation: false, effect: 'idempotent' })
    const remote = remoteStore(store, (at) => (at === 3 ? late.promise : undefined)) // the intent is stored, and the append has not returned
    const { runner } = startProcess(remote, {
      tools: [refund],
      steps: [refundReply(5), 'done', 'hello'],
      runner: { ports: { now: () => now } },
    })
    const first = sendMessage(runner)
    await vi.waitFor(async () => expect((await storedEvents(store)).length).toBe(2))
    now += 60_000
    const events = []
    for await (const event of runner.resume(where)) events.push(event)
    await expect(first).rejects.toMatchObject({ code: 'LEASE_LOST' })
    late.resolve()
    expect(finalResponses(await storedEvents(store))).toEqual({ c1: { refunded: 5 } })
    expect(run).toHaveBeenCalledOnce()
    expect((await sendMessage(runner)).text).toBe('hello') // the runner accepts the next message
  })

  test.each([
    ['is lost', 'LEASE_LOST'],
    ['is stored', undefined],
  ])('leaves no request pending when its last append %s after the loss', async (when, code) => {
    let now = 1_000_000
    const store = new InMemorySessionService({ now: () => now })
    const append = store.append.bind(store)
    const sent = createDeferred()
    const arrives = createDeferred()
    let closings = 0
    store.append = async (...args) => {
      const isHeld = args[2].some(({ event }) => event?.errorCode === 'CANCELLED') && ++closings === 1
      if (!isHeld) return await append(...args)
      const seq = when === 'is stored' ? await append(...args) : undefined
      sent.resolve()
      await arrives.promise
      return seq ?? (await append(...args))
    }
    const { refund } = refundTool()
    const { runner } = startProcess(store, {
      tools: [refund],
      steps: [refundReply(5), refundReply(6), 'done'],
      runner: { ports: { now: () => now } },
    })
    await sendMessage(runner)
    const first = runner.cancel(where).then(
      () => undefined,
      (error) => error.code,
    )
    await sent.promise
    now += 60_000
    await runner.cancel(where)
    expect(await runner.pending()).toEqual([])
    const { pending } = await sendMessage(runner)
    arrives.resolve()
    expect(await first).toBe(code)
    expect(await runner.pending()).toEqual(pending)
    await sendMessage(runner, [approve(requestFor(pending))]) // the honest approval counts
    expect(await runner.pending()).toEqual([])
  })

  test('aborts the signals of its bodies', async () => {
    let now = 1_000_000
    const store = new InMemorySessionService({ now: () => now })
    const begun = createDeferred<AbortSignal>()
    const slow = tool({
      name: 'slow',
      description: 'Slow',
      run: (_args, { signal }) => {
        begun.resolve(signal)
        return new Promise(() => {})
      },
    })
    const { runner } = startProcess(store, {
      tools: [slow],
      steps: [{ calls: [{ name: 'slow' }] }, 'done'],
      runner: { ports: { now: () => now } },
    })
    const first = sendMessage(runner)
    const signal = await begun.promise
    now += 60_000
    for await (const _ of runner.resume(where)) expect(signal.aborted).toBe(true)
    await expect(first).rejects.toMatchObject({ code: 'LEASE_LOST' })
  })
})

test('the runner rejects an answer to a request that a cancel from the inbox has closed', async () => {
  const store = new InMemorySessionService()
  const remote = remoteStore(store, () => undefined)
  const ship = tool({ name: 'ship', description: 'Ship', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const { runner } = startProcess(remote, { tools: [ship], steps: [{ calls: [{ id: 'c1', name: 'ship' }] }, 'wait'] })
  await sendMessage(runner)
  await store.post(key, { id: 'i1', type: 'cancel' })
  const answer = { functionResponse: { id: 'c1', name: 'ship', response: { arrived: true } } }
  await expect(sendMessage(runner, [answer])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(finalResponses(await storedEvents(store)).c1).toMatchObject({ errorCode: 'UNKNOWN_OUTCOME' })
})

test('the runner yields the events of a cancel from the inbox to the next run', async () => {
  const store = new InMemorySessionService()
  const { refund } = refundTool()
  const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'hello'] })
  const { pending } = await sendMessage(runner)
  await store.post(key, { id: 'i1', type: 'cancel' })
  const { events, text } = await sendMessage(runner)
  expect(text).toBe('hello')
  expect(events.map(({ errorCode, content }) => errorCode ?? content?.role)).toEqual(['tool', 'CANCELLED', 'model'])
  await expect(sendMessage(runner, [approve(requestFor(pending))])).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

describe('a process that stalled between the intent and the body', () => {
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }, 'done']

  /** A first process whose intent is stored and not yet acknowledged, and the clock of both processes. */
  function stalled() {
    const clock = { now: 1_000_000 }
    const ports = { now: () => clock.now }
    const store = new InMemorySessionService(ports)
    const late = createDeferred()
    const remote = remoteStore(store, (at) => (at === 3 ? late.promise : undefined))
    const run = vi.fn(() => ({ paid: true }))
    const reconcile = vi.fn(() => ({ status: 'not-done' as const }))
    const pay = tool({ name: 'pay', description: 'Pay', effect: 'reconcilable', reconcile, run })
    const { runner } = startProcess(remote, { tools: [pay], steps, runner: { ports } })
    const first = sendMessage(runner)
    const hasIntent = async () => expect((await storedEvents(store)).length).toBe(2)
    return { clock, ports, store, late, run, reconcile, pay, runner, first, hasIntent }
  }

  test('does not run the body when another process has resumed the session', async () => {
    const { clock, ports, store, late, run, reconcile, pay, first, hasIntent } = stalled()
    await vi.waitFor(hasIntent)
    clock.now += 60_000
    const second = startProcess(store, { tools: [pay], steps: ['done'], runner: { ports } })
    for await (const _ of second.runner.resume(where));
    expect(reconcile).toHaveBeenCalledOnce()
    expect(run).toHaveBeenCalledOnce()
    late.resolve()
    await expect(first).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(run).toHaveBeenCalledOnce()
  })

  test('renews the lease and runs the body when no other process has claimed the session', async () => {
    const { clock, store, late, run, first, hasIntent } = stalled()
    const renew = vi.spyOn(store, 'renew')
    await vi.waitFor(hasIntent)
    clock.now += 60_000
    late.resolve()
    expect((await first).text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
    expect(renew).toHaveBeenCalledOnce()
  })

  test('does not run the body of a call that was cancelled during the renewal', async () => {
    const { clock, store, late, run, runner, first, hasIntent } = stalled()
    const renewed = createDeferred()
    const renew = vi.spyOn(store, 'renew').mockImplementation(async (lease) => {
      await renewed.promise
      return lease
    })
    await vi.waitFor(hasIntent)
    clock.now += 60_000
    late.resolve()
    await vi.waitFor(() => expect(renew).toHaveBeenCalled())
    await runner.cancel(where)
    renewed.resolve()
    expect((await first).error?.code).toBe('CANCELLED')
    expect(finalResponses(await storedEvents(store))).toMatchObject({ c1: { errorCode: 'UNKNOWN_OUTCOME' } })
    await new Promise((resolve) => setImmediate(resolve)) // code that waited for the renewal has run
    expect(run).not.toHaveBeenCalled()
  })
})
