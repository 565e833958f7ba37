import { expect, test } from 'vitest'
import { readCondition } from './read-condition.ts'
import { failOnReport, keepReports } from './state.test-kit.ts'

test.each([
  [true, true],
  [false, false],
  [undefined, false],
])('a condition that returns %s counts as %s and is not reported', (value, counts) => {
  expect(readCondition('guard', () => value, failOnReport)).toBe(counts)
})

test.each([1, 'yes', null, {}])('a condition that returns %s counts as false and is reported', (value) => {
  const { report, problems, errors } = keepReports()
  expect(readCondition('guard of phase "pay"', () => value, report)).toBe(false)
  expect(problems).toEqual(['The guard of phase "pay" failed and counts as false.'])
  expect(errors).toMatchObject([{ message: expect.stringContaining('Return true or false.') }])
})

test('a condition that returns a promise counts as false, and a rejection of the promise is handled', async () => {
  const { report, errors } = keepReports()
  const late = async () => {
    throw new Error('late')
  }
  expect(readCondition('guard', late, report)).toBe(false)
  await new Promise(setImmediate)
  expect(errors).toMatchObject([{ message: expect.stringContaining('It returned a promise.') }])
})
