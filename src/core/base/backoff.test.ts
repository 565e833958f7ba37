import { expect, test } from 'vitest'
import { backoffMs, retryAfterMs } from './backoff.ts'

const now = Date.parse('2030-01-01T00:00:00Z')

test.each([
  ['5', 5_000],
  ['0', 0],
  ['1.5', 1_500],
  ['-3', 0],
  ['Tue, 01 Jan 2030 00:00:10 GMT', 10_000],
  ['Mon, 31 Dec 2029 23:59:00 GMT', 0],
  ['soon', undefined],
  ['Infinity', undefined],
  ['', undefined],
  [undefined, undefined],
  [7, undefined],
])('retryAfterMs() reads the Retry-After header %j as %j ms', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms)
})

test('backoffMs() doubles the delay up to a limit, with jitter', () => {
  const limits = { delayMs: 500, maxDelayMs: 8_000 }
  expect([1, 2, 3, 5, 6, 50].map((retry) => backoffMs(retry, limits, () => 1))).toEqual([
    500, 1_000, 2_000, 8_000, 8_000, 8_000,
  ])
  expect(backoffMs(3, limits, () => 0.25)).toBe(500)
})
