import { expect, test } from 'vitest'
import { limitsOf, positive } from './executor-options.ts'

test('limits have defaults, and what is given wins', () => {
  const defaults = { timeoutMs: 30_000, maxOutputBytes: 256_000, maxFiles: 100, maxFileBytes: 10_000_000 }
  expect(limitsOf({})).toEqual(defaults)
  expect(limitsOf({ timeoutMs: 5, maxFiles: undefined })).toEqual({ ...defaults, timeoutMs: 5 })
})

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5' as unknown as number])(
  'a limit of %s is no limit',
  (given) => {
    expect(() => positive('maxFiles', given, 1)).toThrow(`maxFiles must be a whole number`)
  },
)

test('a deadline is no longer than a timer can count', () => {
  expect(() => limitsOf({ timeoutMs: 2 ** 31 })).toThrow('timeoutMs must be a whole number from 1 to 2147483647')
})
