import { expect, test } from 'vitest'
import { CallLimit } from './call-limit.ts'

test('calls of a minute come back over a minute', () => {
  let now = 0
  const limit = new CallLimit({ maxToolCalls: 1_000, maxToolCallsPerMinute: 60, now: () => now })
  const admitted = (count: number): number =>
    Array.from({ length: count }, () => limit.take()).filter((refusal) => refusal === undefined).length
  expect(admitted(100)).toBe(60)
  now += 10_000
  expect(admitted(100)).toBe(10)
  now += 3_600_000
  expect(admitted(100)).toBe(60)
})
