import { expect, test } from 'vitest'
import { readExecutorLimits, readPositiveInteger } from './executor-options.ts'

test('readExecutorLimits() fills in the default of every limit that is not given', () => {
  const defaults = { timeoutMs: 30_000, maxOutputBytes: 256_000, maxFiles: 100, maxFileBytes: 10_000_000 }
  expect(readExecutorLimits({})).toEqual(defaults)
  expect(readExecutorLimits({ timeoutMs: 5, maxFiles: undefined })).toEqual({ ...defaults, timeoutMs: 5 })
})

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5' as unknown as number])(
  'readPositiveInteger() rejects the limit %s',
  (given) => {
    expect(() => readPositiveInteger('maxFiles', given, 1)).toThrow('maxFiles must be a whole number')
  },
)

test('readExecutorLimits() rejects a timeoutMs that is longer than a timer can wait', () => {
  expect(() => readExecutorLimits({ timeoutMs: 2 ** 31 })).toThrow(
    'timeoutMs must be a whole number from 1 to 2147483647',
  )
})
