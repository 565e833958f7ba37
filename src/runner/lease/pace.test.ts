import { expect, test } from 'vitest'
import { Pace } from './active-runs.ts'

/** Timers fired by hand. */
function stage(): { pace: Pace; timers: (() => void)[]; begun: number[]; begin(count: number): void } {
  const timers: (() => void)[] = []
  const pace = new Pace({
    setTimer: (callback) => {
      timers.push(callback)
      return () => {}
    },
  })
  const begun: number[] = []
  let arrived = 0
  const begin = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const at = arrived++
      const crowded = pace.enter()
      if (crowded) void crowded.then(() => begun.push(at))
      else begun.push(at)
    }
  }
  return { pace, timers, begun, begin }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('starts runs at once when they arrive one after another', () => {
  const { pace, timers, begun, begin } = stage()
  for (let i = 0; i < 1_000; i++) {
    begin(1)
    pace.leave()
  }
  expect(begun).toHaveLength(1_000)
  expect(timers).toEqual([])
})

test('starts simultaneous runs a few at a time, in order of arrival', async () => {
  const { timers, begun, begin } = stage()
  begin(200)
  const few = begun.length
  expect(few).toBeLessThan(200)
  for (let rounds = 1; timers.length; rounds++) {
    expect(begun).toHaveLength(Math.min(rounds * few, 200))
    timers.shift()?.()
    await settle()
  }
  expect(begun).toEqual(Array.from({ length: 200 }, (_, at) => at))
})

test('starts later runs while earlier ones still wait', async () => {
  const { timers, begun, begin } = stage()
  begin(200)
  while (timers.length) {
    timers.shift()?.()
    await settle()
  }
  begin(200) // none of the first runs has ended
  while (timers.length) {
    timers.shift()?.()
    await settle()
  }
  expect(begun).toHaveLength(400)
})
