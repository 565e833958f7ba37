import { expect, test } from 'vitest'
import { callIdIn, roundOf } from './scope.ts'

test('the round of a path is that of its innermost step that repeats, and calls and transfers are no rounds', () => {
  expect(roundOf('desk')).toBe(1)
  expect(roundOf('pipeline/polish@1/writer@3')).toBe(3)
  expect(roundOf('loop/inner@2/writer@1')).toBe(2)
  expect(roundOf('desk/helper@adk-7/other@t2')).toBe(1)
})

test('the call of an agent tool is named by its scope', () => {
  expect(callIdIn('desk/helper@c1/deep@c2')).toBe('c2')
})
