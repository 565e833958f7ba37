import { expect, test } from 'vitest'
import { describeAnswer, isGranted, readAnswer } from './read-answer.ts'

const UNREADABLE = 'the decision could not be read'

test.each([
  ['confirmation', { confirmed: true }, { type: 'approved' }],
  ['confirmation', { confirmed: true, args: { a: 1 } }, { type: 'approved', args: { a: 1 } }],
  ['confirmation', { confirmed: 'true' }, { type: 'denied', reason: UNREADABLE }],
  ['confirmation', { confirmed: false, reason: 'no' }, { type: 'denied', reason: 'no' }],
  ['confirmation', { toolConfirmation: { confirmed: false } }, { type: 'denied' }],
  ['confirmation', { response: '{"confirmed":true}' }, { type: 'approved' }],
  ['confirmation', { declined: true }, { type: 'denied', reason: UNREADABLE }],
  ['input', { result: 5 }, { type: 'answered', value: 5 }],
  ['input', { a: 1, b: 2 }, { type: 'answered', value: { a: 1, b: 2 } }],
  ['input', { confirmed: false, b: 2 }, { type: 'answered', value: { confirmed: false, b: 2 } }],
  ['input', { declined: true, reason: 'later' }, { type: 'declined', reason: 'later' }],
  ['credential', { status: 'authorized' }, { type: 'authorized' }],
  ['credential', { status: 'failed', error: 'no scope' }, { type: 'failed', reason: 'no scope' }],
  ['credential', { status: 'expired' }, { type: 'expired' }],
  ['credential', { declined: true }, { type: 'declined' }],
  ['credential', { anything: 1 }, { type: 'failed' }],
] as const)('an answer to a %s: %j', (kind, answer, expected) => {
  const meaning = readAnswer(kind, answer)
  expect(meaning).toEqual(expected)
  expect(isGranted(meaning)).toBe(['approved', 'answered', 'authorized'].includes(expected.type))
})

test('describes answers in a few words', () => {
  expect(describeAnswer({ type: 'approved', args: {} })).toBe('approved with changes')
  expect(describeAnswer({ type: 'approved', reason: 'fine' })).toBe('approved')
  expect(describeAnswer({ type: 'denied', reason: 'too much' })).toBe('denied: too much')
  expect(describeAnswer({ type: 'failed' })).toBe('failed')
})
