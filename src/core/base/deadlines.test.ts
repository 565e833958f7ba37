import { expect, test } from 'vitest'
import { type Deadline, Deadlines } from './deadlines.ts'
import { systemPorts } from './ports.ts'

function clock() {
  let now = 0
  let step = 0
  const timers = new Set<{ at: number; callback: () => void }>()
  const ports = {
    ...systemPorts,
    now: () => now + step,
    monotonicNow: () => now,
    setTimer: (callback: () => void, ms: number) => {
      const timer = { at: now + ms, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  const until = (time: number): void => {
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= time).sort((a, b) => a.at - b.at)
      if (!next) break
      now = next.at
      timers.delete(next)
      next.callback()
    }
    now = time
  }
  const stepClock = (ms: number): void => {
    step += ms
  }
  return { deadlines: new Deadlines(ports), timers, until, stepClock }
}

const deadline = (expire: () => void): Deadline => ({ at: 0, isOver: true, expire })

test('each deadline expires at its time, in any order of setting', () => {
  const { deadlines, until } = clock()
  const passed: string[] = []
  deadlines.set(
    30,
    deadline(() => passed.push('late')),
  )
  deadlines.set(
    10,
    deadline(() => passed.push('soon')),
  )
  deadlines.set(
    30,
    deadline(() => passed.push('late too')),
  )
  until(9)
  expect(passed).toEqual([])
  until(10)
  expect(passed).toEqual(['soon'])
  until(30)
  expect(passed).toEqual(['soon', 'late', 'late too'])
})

test('a cleared deadline does not expire, and the timer is cancelled with the last deadline', () => {
  const { deadlines, timers, until } = clock()
  const passed: string[] = []
  const first = deadline(() => passed.push('first'))
  const second = deadline(() => passed.push('second'))
  deadlines.set(10, first)
  deadlines.set(20, second)
  deadlines.clear(first)
  deadlines.clear(first)
  until(15)
  expect(passed).toEqual([])
  deadlines.clear(second)
  expect(timers.size).toBe(0)
  until(100)
  expect(passed).toEqual([])
  deadlines.set(
    5,
    deadline(() => passed.push('again')),
  )
  until(105)
  expect(passed).toEqual(['again'])
  expect(timers.size).toBe(0)
})

test('a deadline that an expiring deadline sets is kept', () => {
  const { deadlines, until } = clock()
  const passed: number[] = []
  deadlines.set(
    10,
    deadline(() => {
      passed.push(1)
      deadlines.set(
        10,
        deadline(() => passed.push(2)),
      )
    }),
  )
  until(20)
  expect(passed).toEqual([1, 2])
})

test.each([3_600_000, -3_600_000])('deadlines expire on time when the clock is set by %i ms', (ms) => {
  const { deadlines, until, stepClock } = clock()
  const passed: string[] = []
  deadlines.set(
    10,
    deadline(() => passed.push('early')),
  )
  deadlines.set(
    30,
    deadline(() => passed.push('late')),
  )
  stepClock(ms)
  until(10)
  expect(passed).toEqual(['early'])
  until(29)
  expect(passed).toEqual(['early'])
  until(30)
  expect(passed).toEqual(['early', 'late'])
})
