import { expect, test } from 'vitest'
import { LiveConnectionError } from '../../../engine/model/live-model.ts'
import { Attempts } from './attempts.ts'
import { ManualClock } from './link.test-kit.ts'

const error = (code: number | undefined, recover: 'resume' | 'fresh' | 'nothing' = 'resume'): LiveConnectionError =>
  new LiveConnectionError('failed', { code, recover })

test('gives up after ten attempts, or after those of the options', () => {
  const attempts = new Attempts({}, new ManualClock().ports)
  attempts.count = 9
  expect(attempts.isOver).toBe(false)
  attempts.count = 10
  expect(attempts.isOver).toBe(true)
  expect(new Attempts({ attempts: 0 }, new ManualClock().ports).isOver).toBe(true)
})

test('waits not at all, then up to twice as long each time, up to the limit', () => {
  const attempts = new Attempts({}, new ManualClock().ports)
  expect([1, 2, 3, 4, 7, 8, 50].map((attempt) => attempts.delayMs(attempt))).toEqual([
    0, 250, 500, 1_000, 8_000, 8_000, 8_000,
  ])
})

test('waits before the first attempt if a connection that was made again is lost at once', async () => {
  const clock = new ManualClock()
  const attempts = new Attempts({}, clock.ports)
  const lose = async (afterMs: number): Promise<number> => {
    attempts.connected()
    await clock.advance(afterMs)
    attempts.ended()
    return attempts.delayMs(1)
  }
  expect([await lose(5), await lose(5), await lose(999), await lose(1_000)]).toEqual([0, 250, 250, 0])
})

test('spreads the attempts of sessions that were lost together', () => {
  const { ports } = new ManualClock()
  const attempts = new Attempts({ delayMs: 100 }, { ...ports, random: () => 0.25 })
  expect(attempts.delayMs(3)).toBe(50)
})

test('starts to count again after a turn, or after half a minute', async () => {
  const clock = new ManualClock()
  const attempts = new Attempts({}, clock.ports)
  attempts.count = 5
  attempts.worked()
  expect(attempts.count).toBe(0)
  attempts.count = 5
  attempts.connected()
  await clock.advance(29_999)
  attempts.ended()
  expect(attempts.count).toBe(5)
  await clock.advance(1)
  attempts.ended()
  expect(attempts.count).toBe(0)
})

test('drops a handle that the provider refuses by name or several times', () => {
  const attempts = new Attempts({}, new ManualClock().ports)
  expect(attempts.isHandleRefused(error(1007, 'fresh'))).toBe(true)
  expect(attempts.isHandleRefused(error(1011))).toBe(false)
  attempts.count = 5
  expect(attempts.isHandleRefused(error(1011))).toBe(true)
})

test('does not blame the handle for a provider that cannot be reached', () => {
  const attempts = new Attempts({}, new ManualClock().ports)
  attempts.count = 9
  expect([1006, 503, undefined].map((code) => attempts.isHandleRefused(error(code)))).toEqual([false, false, false])
})
