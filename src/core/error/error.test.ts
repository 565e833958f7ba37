import { expect, test } from 'vitest'
import { messageOf, ToolError, ToolwrightError } from './error.ts'

test('ToolError has a message, a code and a cause', () => {
  const cause = new Error('deeper')
  expect(new ToolError('Which order?')).toMatchObject({
    name: 'ToolError',
    code: 'EXECUTION_FAILED',
    message: 'Which order?',
  })
  expect(new ToolError('None.', { code: 'NOT_FOUND', cause })).toMatchObject({ code: 'NOT_FOUND', cause })
  expect('cause' in new ToolError('x')).toBe(false)
})

test('ToolwrightError keeps its cause', () => {
  const cause = new Error('deeper')
  const error = new ToolwrightError('STORAGE', 'The disk is full.', { cause })
  expect(error).toMatchObject({ name: 'ToolwrightError', code: 'STORAGE', cause })
})

test('messageOf() describes any thrown value', () => {
  const unreadable = Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      throw new Error('no')
    },
  })
  expect([new Error('a'), 'b', { message: 'c' }, new TypeError(), 5, null, unreadable].map(messageOf)).toEqual([
    'a',
    'b',
    'c',
    'TypeError',
    'a value that is not an error was thrown (number)',
    'a value that is not an error was thrown (object)',
    'an error that cannot be read was thrown',
  ])
})
