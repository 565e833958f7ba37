import { expect, test } from 'vitest'
import { formatExactTime } from './format.ts'

test('an exact time has milliseconds, so that events of one second can be told apart', () => {
  const seconds = new Date(2026, 4, 3, 9, 5, 7, 25).getTime() / 1000
  expect(formatExactTime(seconds)).toBe('09:05:07.025')
})
