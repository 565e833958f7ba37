// Lost leases: a former holder stops and writes nothing more.
import { InMemorySessionService, type SessionService } from 'toolwright'
import type { Lease } from 'toolwright/store'
import { describe, expect, test, vi } from 'vitest'
import { finalResponses, sendMessage, startProcess, storedEvents, where } from './approvals-kit.ts'
import { createDeferred, ManualTimers, plainTool } from './kit.ts'
import { clockedStores, hangInBody, LEASE_MS, RENEW_MS, resumeSession } from './lease-kit.ts'

const steps = [{ calls: [{ id: 'c1', name: 'work' }] }, 'first']

describe.each(clockedStores)('with sessions %s', (_, newStore) => {
  test('a holder that lost its lease stops at its next renewal and aborts its body [PR-05]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    const left = await hangInBody(store, (run) => plainTool('work', run, { effect: 'atMostOnce' }), steps)
    clock.time += LEASE_MS
    const work = vi.fn()
    const { runner } = startProcess(store, {
      tools: [plainTool('work', work, { effect: 'atMostOnce' })],
      steps: ['second'],
    })
    expect(await resumeSession(runner)).toBe('second')
    const log = await storedEvents(store)
    await left.timers.fire(RENEW_MS)
    await expect(left.completion).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(left.signal.aborted).toBe(true)
    left.finish({ late: true })
    await new Promise((resolve) => setImmediate(resolve))
    expect(await storedEvents(store)).toEqual(log)
    expect(finalResponses(log).c1).toMatchObject({ errorCode: 'UNKNOWN_OUTCOME' })
    expect(work).not.toHaveBeenCalled()
  })

  test('a holder that lost its lease stops when its body returns [PR-05]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    const left = await hangInBody(store, (run) => plainTool('work', run, { effect: 'atMostOnce' }), steps)
    clock.time += LEASE_MS
    await resumeSession(startProcess(store, { tools: [plainTool('work', () => {})], steps: ['second'] }).runner)
    const log = await storedEvents(store)
    left.finish({ late: true })
    await expect(left.completion).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(await storedEvents(store)).toEqual(log)
  })

  test('a holder with an expired lease continues when no other process claimed the session [PR-05]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    const left = await hangInBody(store, (run) => plainTool('work', run, { effect: 'atMostOnce' }), steps)
    clock.time += 10 * LEASE_MS
    await left.timers.fire(RENEW_MS)
    left.finish({ late: true })
    expect(await left.completion).toMatchObject({ text: 'first' })
    expect(left.signal.aborted).toBe(false)
    expect(finalResponses(await storedEvents(store)).c1).toEqual({ late: true })
  })

  test.each([1_000, 15_000, 600_000])('a holder of a lease of %i ms keeps the session by renewing', async (leaseMs) => {
    const clock = { time: 0 }
    const store = newStore(clock, leaseMs)
    const renewed = watchRenewals(store)
    const left = await hangInBody(store, (run) => plainTool('work', run, { effect: 'atMostOnce' }), steps)
    const key = { appName: 'app', ...where }
    for (let third = 1; third <= 9; third++) {
      clock.time += leaseMs / 3
      await left.timers.fire(leaseMs / 3)
      await renewed() // the clock of this test does not wait for a database
      await expect(store.claim(key)).rejects.toMatchObject({ code: 'SESSION_BUSY' })
      expect(left.timers.count(leaseMs / 3), 'one timer for all renewals').toBe(1)
    }
    left.finish({ late: false })
    expect(await left.completion).toMatchObject({ text: 'first' })
  })

  test('a holder that lost its lease during a model call runs no body [PR-05]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    const [modelCalled, thought] = [createDeferred(), createDeferred()]
    const work = vi.fn()
    const tools = [plainTool('work', work, { effect: 'atMostOnce' })]
    const thinking = async () => {
      modelCalled.resolve()
      await thought.promise
      return steps[0] as object
    }
    const { runner } = startProcess(store, { tools, steps: [thinking], runner: { ports: new ManualTimers().ports } })
    const completion = sendMessage(runner)
    await modelCalled.promise
    clock.time += LEASE_MS
    expect(await resumeSession(startProcess(store, { tools, steps: ['second'] }).runner)).toBe('second')
    const log = await storedEvents(store)
    thought.resolve()
    await expect(completion).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(work).not.toHaveBeenCalled()
    expect(await storedEvents(store)).toEqual(log)
  })
})

test('the runner does not start a second renewal while another renewal waits for the store', async () => {
  const [waiting, answered] = [createDeferred(), createDeferred()]
  let renewals = 0
  class SlowStore extends InMemorySessionService {
    override async renew(lease: Lease): Promise<Lease> {
      renewals++
      waiting.resolve()
      await answered.promise
      return await super.renew(lease)
    }
  }
  const left = await hangInBody(new SlowStore(), (run) => plainTool('work', run, { effect: 'atMostOnce' }), steps)
  await left.timers.fire(RENEW_MS)
  await waiting.promise
  for (let more = 0; more < 3; more++) await left.timers.fire(RENEW_MS)
  expect(renewals).toBe(1)
  answered.resolve()
  left.finish({ late: true })
  expect(await left.completion).toMatchObject({ text: 'first' })
})

/** Returns a function that waits for the latest renewal. */
function watchRenewals(store: SessionService): () => Promise<unknown> {
  const renew = store.renew.bind(store)
  let latest: Promise<unknown> = Promise.resolve()
  store.renew = (lease) => {
    const renewing = renew(lease)
    latest = renewing.catch(() => undefined)
    return renewing
  }
  return () => latest
}
