import { expect, test } from 'vitest'
import { truncate } from './shorten-text.ts'

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['a😀b', 3, 'a…'],
  ['😀😀😀', 4, '😀…'],
])('truncate() truncates %j to %d characters: %j', (text, max, expected) => {
  expect(truncate(text, max)).toBe(expected)
})
