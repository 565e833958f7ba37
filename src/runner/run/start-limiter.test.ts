import { expect, test } from 'vitest'
import { StartLimiter } from './active-runs.ts'

/** A limiter whose timers the test fires, with the runs that have started. */
function createLimiter(): {
  limiter: StartLimiter
  timers: (() => void)[]
  started: number[]
  start(count: number): void
} {
  const timers: (() => void)[] = []
  const limiter = new StartLimiter({
    setTimer: (callback) => {
      timers.push(callback)
      return () => {}
    },
  })
  const started: number[] = []
  let arrived = 0
  const start = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const at = arrived++
      const crowded = limiter.enter()
      if (crowded) void crowded.then(() => started.push(at))
      else started.push(at)
    }
  }
  return { limiter, timers, started, start }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('StartLimiter starts runs at once when they arrive one after another', () => {
  const { limiter, timers, started, start } = createLimiter()
  for (let i = 0; i < 1_000; i++) {
    start(1)
    limiter.release()
  }
  expect(started).toHaveLength(1_000)
  expect(timers).toEqual([])
})

test('StartLimiter starts simultaneous runs a few at a time, in order of arrival', async () => {
  const { timers, started, start } = createLimiter()
  start(200)
  const few = started.length
  expect(few).toBeLessThan(200)
  for (let rounds = 1; timers.length; rounds++) {
    expect(started).toHaveLength(Math.min(rounds * few, 200))
    timers.shift()?.()
    await settle()
  }
  expect(started).toEqual(Array.from({ length: 200 }, (_, at) => at))
})

test('StartLimiter starts later runs while earlier runs still wait', async () => {
  const { timers, started, start } = createLimiter()
  start(200)
  while (timers.length) {
    timers.shift()?.()
    await settle()
  }
  start(200) // none of the first runs has ended
  while (timers.length) {
    timers.shift()?.()
    await settle()
  }
  expect(started).toHaveLength(400)
})
