import { expect, test } from 'vitest'
import { hardWrap, textWidth, truncate } from './text-width.ts'

test.each([
  ['plain', 5],
  ['né', 2],
  ['e\u0301', 1],
  ['你好', 4],
  ['👩‍👩‍👧', 2],
  ['', 0],
])('%j takes %i columns', (text, columns) => expect(textWidth(text)).toBe(columns))

test('cut keeps what fits and marks what is gone', () => {
  expect(truncate('abcdefghij', 10)).toBe('abcdefghij')
  expect(truncate('abcdefghij', 5)).toBe('abcd…')
  expect(truncate('你好你好', 5)).toBe('你好…')
  expect(truncate('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…')
})

test('cut looks at the beginning of a huge text only', () => {
  expect(truncate(`a${'\u0301'.repeat(1_000_000)}`, 10).length).toBeLessThan(100)
  expect(truncate('x'.repeat(10_000_000), 10)).toBe('xxxxxxxxx…')
})

test('hardWrap loses nothing and starts further rows with the hang', () => {
  expect(hardWrap('abcdefghij', 5, '  ')).toBe('abcde\n  fgh\n  ij')
  expect(hardWrap('你好你', 5, ' ')).toBe('你好\n 你')
  expect(hardWrap('abc', 5, '  ')).toBe('abc')
})
