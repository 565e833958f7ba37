import { expect, test } from 'vitest'
import { hardWrap, textWidth, truncate } from './text-width.ts'

test.each([
  ['plain', 5],
  ['né', 2],
  ['e\u0301', 1],
  ['你好', 4],
  ['👩‍👩‍👧', 2],
  ['', 0],
])('textWidth(%j) is %i columns', (text, columns) => expect(textWidth(text)).toBe(columns))

test('truncate() keeps text that fits and marks removed text with an ellipsis', () => {
  expect(truncate('abcdefghij', 10)).toBe('abcdefghij')
  expect(truncate('abcdefghij', 5)).toBe('abcd…')
  expect(truncate('你好你好', 5)).toBe('你好…')
  expect(truncate('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…')
})

test('truncate() reads only the start of a huge text', () => {
  expect(truncate(`a${'\u0301'.repeat(1_000_000)}`, 10).length).toBeLessThan(100)
  expect(truncate('x'.repeat(10_000_000), 10)).toBe('xxxxxxxxx…')
})

test('hardWrap() keeps all characters and starts wrapped rows with the hanging indent', () => {
  expect(hardWrap('abcdefghij', 5, '  ')).toBe('abcde\n  fgh\n  ij')
  expect(hardWrap('你好你', 5, ' ')).toBe('你好\n 你')
  expect(hardWrap('abc', 5, '  ')).toBe('abc')
})
