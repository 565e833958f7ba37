import { expect, test } from 'vitest'
import { formatExactTime, formatTimeLeft } from './format.ts'

test('an exact time has milliseconds, so that events of one second can be told apart', () => {
  const seconds = new Date(2026, 4, 3, 9, 5, 7, 25).getTime() / 1000
  expect(formatExactTime(seconds)).toBe('09:05:07.025')
})

test('the time left needs no day and no clock', () => {
  const left = (minutes: number): string => formatTimeLeft(minutes * 60, 0)
  expect([-1, 0.5, 12.9, 90, 47 * 60, 48 * 60].map(left)).toEqual([
    'now',
    'in less than a minute',
    'in 12 min',
    'in 1 h',
    'in 47 h',
    'in 2 days',
  ])
})
