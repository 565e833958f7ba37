import { expect, test } from 'vitest'
import {
  countRecoveries,
  mergeRecoveries,
  type RecoveryTimes,
  recoveryPercentile,
  withRecovery,
} from './recovery-times.ts'

const timesOf = (...times: number[]): RecoveryTimes => times.reduce<RecoveryTimes>(withRecovery, [])

test('counts recovery times in ranges, and finds percentiles of several workers', () => {
  const one = timesOf(40, 45, 9_000)
  expect(one).toEqual([
    { upToMs: 50, count: 2 },
    { upToMs: 10_000, count: 1 },
  ])
  const all = mergeRecoveries([one, timesOf(50, 16_000), []])
  expect(countRecoveries(all)).toBe(5)
  expect(recoveryPercentile(all, 0.5)).toBe(50)
  expect(recoveryPercentile(all, 0.6)).toBe(50)
  expect(recoveryPercentile(all, 0.8)).toBe(10_000)
  expect(recoveryPercentile(all, 0.99)).toBe(20_000)
})

test('no recovery has no percentile, and a time of many days counts as one day', () => {
  expect(recoveryPercentile([], 0.99)).toBe(undefined)
  expect(recoveryPercentile(timesOf(1e12), 0.5)).toBe(86_400_000)
})

test('keeps the size of a report however many recoveries there are', () => {
  let times: RecoveryTimes = []
  for (let at = 0; at < 10_000; at++) times = withRecovery(times, (at * 7919) % 100_000_000)
  expect(countRecoveries(times)).toBe(10_000)
  expect(times.length).toBeLessThanOrEqual(26)
})
