import { expect, test } from 'vitest'
import { percentile, RecoveryTimes } from './recovery-times.ts'

test('measures from the kill of a worker to the next entry of each session that it held', () => {
  const times = new RecoveryTimes()
  times.note(1, 's1', 'claimed', 0)
  times.note(1, 's2', 'claimed', 0)
  times.note(1, 's2', 'released', 10)
  times.note(2, 's3', 'claimed', 10)
  times.kill(1, 100)
  times.note(2, 's1', 'claimed', 120)
  times.note(2, 's1', 'appended', 150)
  times.note(2, 's1', 'appended', 160)
  times.note(2, 's2', 'appended', 170)
  times.note(2, 's3', 'appended', 180)
  expect(times.sorted(200)).toEqual([50])
})

test('counts from the first kill if the next worker is killed, too', () => {
  const times = new RecoveryTimes()
  times.note(1, 's1', 'claimed', 0)
  times.kill(1, 100)
  times.note(2, 's1', 'claimed', 200)
  times.kill(2, 300)
  times.note(3, 's1', 'appended', 1_000)
  expect(times.sorted(2_000)).toEqual([900])
})

test('counts a session that no worker has continued, and none where nothing was left to do', () => {
  const times = new RecoveryTimes()
  for (const session of ['s1', 's2']) times.note(1, session, 'claimed', 0)
  times.kill(1, 100)
  times.note(2, 's2', 'claimed', 150)
  times.note(2, 's2', 'released', 160)
  expect(times.sorted(5_100)).toEqual([5_000])
})

test('takes into account what a worker told before it was killed, also if it arrives later', () => {
  const times = new RecoveryTimes()
  for (const session of ['s1', 's2']) times.note(1, session, 'claimed', 0)
  times.kill(1, 100)
  times.note(1, 's1', 'appended', 101)
  times.note(1, 's2', 'released', 101)
  times.note(1, 's3', 'claimed', 101)
  times.note(2, 's1', 'appended', 140)
  times.note(2, 's3', 'appended', 150)
  expect(times.sorted(1_000)).toEqual([40, 50])
})

test('finds percentiles', () => {
  const sorted = Array.from({ length: 200 }, (_, at) => at)
  expect([0.5, 0.99, 1].map((share) => percentile(sorted, share))).toEqual([100, 198, 199])
  expect(percentile([], 0.99)).toBe(0)
  expect(percentile([7], 0.5)).toBe(7)
})
