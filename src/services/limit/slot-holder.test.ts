import { expect, test } from 'vitest'
import { InMemoryLimitService } from './in-memory.ts'
import { SlotHolder } from './slot-holder.ts'

const ADA = { appName: 'shop', userId: 'ada' }
const never = new AbortController().signal

/** A process with a clock and timers that the test moves. */
function world() {
  let now = 0
  let ids = 0
  let timers: { at: number; run: () => void }[] = []
  const service = new InMemoryLimitService({ monotonicNow: () => now })
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const ports = {
    now: () => now,
    monotonicNow: () => now,
    random: () => 0.5,
    newId: () => `id-${++ids}`,
    setTimer: (run: () => void, ms: number) => {
      const timer = { at: now + ms, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((one) => one !== timer)
      }
    },
  }
  const advance = async (ms: number): Promise<void> => {
    await settle()
    for (const end = now + ms; ; ) {
      const next = timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0]
      now = next ? next.at : end
      if (!next) return
      timers = timers.filter((one) => one !== next)
      next.run()
      await settle()
    }
  }
  const problems: string[] = []
  const logger = { warn: (problem: string) => void problems.push(problem) }
  const startProcess = (): SlotHolder => new SlotHolder({ service, ports, logger })
  return { service, startProcess, advance, settle, problems, timers: () => timers.length }
}

test('the calls of a user in a process get slots in the order in which they came', async () => {
  const { startProcess, settle } = world()
  const slots = startProcess()
  const order: number[] = []
  const first = await slots.waitFor({ name: 'work', max: 1 }, ADA, never)
  const others = [1, 2, 3].map(async (at) => {
    const slot = await slots.waitFor({ name: 'work', max: 1 }, ADA, never)
    order.push(at)
    await slot.release()
  })
  await settle()
  expect(order).toEqual([])
  await first.release()
  await Promise.all(others)
  expect(order).toEqual([1, 2, 3])
})

test('a slot is renewed for as long as it is held, and no timer is left after that', async () => {
  const { startProcess, advance, timers, settle } = world()
  const [one, other] = [startProcess(), startProcess()]
  const slot = await one.waitFor({ name: 'work', max: 1 }, ADA, never)
  let isTaken = false
  const waiting = other.waitFor({ name: 'work', max: 1 }, { ...ADA, userId: 'bob' }, never)
  void waiting.then(() => {
    isTaken = true
  })
  await advance(120_000)
  expect(isTaken).toBe(false)
  await slot.release()
  await settle()
  expect(isTaken).toBe(true)
  await (await waiting).release()
  await advance(60_000)
  expect(timers()).toBe(0)
})

test('a slot that comes after its call was cancelled goes back', async () => {
  const { startProcess, service, settle } = world()
  const slots = startProcess()
  const { take } = service
  const gate = Promise.withResolvers<void>()
  service.take = async (request) => {
    const answer = await take.call(service, request)
    await gate.promise
    return answer
  }
  const cancelled = new AbortController()
  const waiting = slots.waitFor({ name: 'work', max: 1 }, ADA, cancelled.signal)
  await settle()
  cancelled.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
  gate.resolve()
  await settle()
  expect(service.size).toBe(0)
})

test('a call that is cancelled before it waits asks for nothing', async () => {
  const { startProcess, service } = world()
  const aborted = AbortSignal.abort(new Error('cancelled'))
  await expect(startProcess().waitFor({ name: 'work', max: 1 }, ADA, aborted)).rejects.toThrow('cancelled')
  expect(service.size).toBe(0)
})

test('a store that fails rejects the calls that wait, and later calls ask it again', async () => {
  const { startProcess, service, problems } = world()
  const slots = startProcess()
  const { take } = service
  service.take = () => Promise.reject(new Error('away'))
  const failing = [1, 2].map(() => slots.waitFor({ name: 'work', max: 1 }, ADA, never))
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(problems).toEqual(['A shared limit could not be checked: away'])
  service.take = take
  const slot = await slots.waitFor({ name: 'work', max: 1 }, ADA, never)
  service.release = () => Promise.reject(new Error('away'))
  await slot.release()
  expect(problems.at(-1)).toBe('A slot of a limit was not released, and is free when its lease ends: away')
})
