import { expect, test } from 'vitest'
import { ManualClock, settle } from './link.test-kit.ts'
import { wait } from './wait.ts'

interface Waiting {
  readonly clock: ManualClock
  readonly controller: AbortController
  readonly isOver: () => boolean
}

function start(ms: number, earlier?: Promise<unknown>): Waiting {
  const clock = new ManualClock()
  const controller = new AbortController()
  let isOver = false
  void wait(ms, clock.ports, controller.signal, earlier).then(() => {
    isOver = true
  })
  return { clock, controller, isOver: () => isOver }
}

test('waits for the time', async () => {
  const { clock, isOver } = start(100)
  await clock.advance(99)
  expect(isOver()).toBe(false)
  await clock.advance(1)
  expect(isOver()).toBe(true)
})

test('does not wait for no time', async () => {
  const { clock, isOver } = start(0)
  await settle()
  expect([isOver(), clock.timers]).toEqual([true, []])
})

test.each([
  ['settles', (): Promise<unknown> => Promise.resolve()],
  ['fails', (): Promise<unknown> => Promise.reject(new Error('no'))],
])('ends when what it waits for %s, and cancels its timer', async (_how, earlier) => {
  const { clock, isOver } = start(100, earlier())
  await settle()
  expect([isOver(), clock.timers]).toEqual([true, []])
})

test('waits for the time even if that is none, while something else may come earlier', async () => {
  const { clock, isOver } = start(0, new Promise(() => {}))
  expect(clock.timers).toEqual([0])
  await clock.advance(0)
  expect(isOver()).toBe(true)
})

test('ends at once when the signal aborts, and cancels its timer', async () => {
  const { clock, controller, isOver } = start(100)
  controller.abort()
  expect(clock.timers).toEqual([])
  await settle()
  expect(isOver()).toBe(true)
})

test('does not start with a signal that is aborted', async () => {
  const clock = new ManualClock()
  await wait(100, clock.ports, AbortSignal.abort())
  expect(clock.timers).toEqual([])
})
