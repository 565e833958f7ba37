import { expect, test } from 'vitest'
import { columnsOf, cut, hardWrap } from './columns.ts'

test.each([
  ['plain', 5],
  ['né', 2],
  ['e\u0301', 1],
  ['你好', 4],
  ['👩‍👩‍👧', 2],
  ['', 0],
])('%j takes %i columns', (text, columns) => expect(columnsOf(text)).toBe(columns))

test('cut keeps what fits and marks what is gone', () => {
  expect(cut('abcdefghij', 10)).toBe('abcdefghij')
  expect(cut('abcdefghij', 5)).toBe('abcd…')
  expect(cut('你好你好', 5)).toBe('你好…')
  expect(cut('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…')
})

test('cut looks at the beginning of a huge text only', () => {
  expect(cut(`a${'\u0301'.repeat(1_000_000)}`, 10).length).toBeLessThan(100)
  expect(cut('x'.repeat(10_000_000), 10)).toBe('xxxxxxxxx…')
})

test('hardWrap loses nothing and starts further rows with the hang', () => {
  expect(hardWrap('abcdefghij', 5, '  ')).toBe('abcde\n  fgh\n  ij')
  expect(hardWrap('你好你', 5, ' ')).toBe('你好\n 你')
  expect(hardWrap('abc', 5, '  ')).toBe('abc')
})
