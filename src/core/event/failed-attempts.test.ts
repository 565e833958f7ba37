import { expect, test } from 'vitest'
import type { Event } from './event.ts'
import { describeFailedAttempt, failedAttemptsOf } from './failed-attempts.ts'

const attempt = { attempt: 1, attempts: 3, error: 'down', errorCode: 'TIMEOUT', startedAt: 1, endedAt: 2 }
const eventWith = (failedAttempts: unknown): Event => ({ failedAttempts }) as Event // only what the function reads

test('reads the failed attempts of a call', () => {
  expect(failedAttemptsOf(eventWith({ c1: [attempt] }), 'c1')).toEqual([attempt])
  expect(failedAttemptsOf(eventWith({ c1: [attempt] }), 'c2')).toEqual([])
})

test.each([
  undefined,
  { c1: 5 },
  { c1: [5, null, { ...attempt, errorCode: 5 }, { ...attempt, attempt: '1' }, { ...attempt, error: {} }] },
])('leaves out values of another form: %j', (stored) => expect(failedAttemptsOf(eventWith(stored), 'c1')).toEqual([]))

test('finds no inherited members', () => {
  expect(failedAttemptsOf(eventWith({}), 'constructor')).toEqual([])
})

test('describes an attempt with its reason, or else its code', () => {
  const { attempts, error, ...least } = attempt
  expect(describeFailedAttempt(attempt)).toBe('Attempt 1 of 3 failed: down')
  expect(describeFailedAttempt(least)).toBe('Attempt 1 failed: TIMEOUT')
})
