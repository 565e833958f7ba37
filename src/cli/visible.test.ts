import { expect, test } from 'vitest'
import { cut, inOneLine, visible } from './visible.ts'

test.each([
  ['an escape sequence', '\x1b[2Jgone', '\\x1b[2Jgone'],
  ['a title that types a command', '\x1b]0;rm\x07', '\\x1b]0;rm\\x07'],
  ['an eight-bit escape', '\x9b2J', '\\x9b2J'],
  ['a carriage return over a line', 'evil\rgood', 'evil\\rgood'],
  ['a backspace', 'a\bb', 'a\\x08b'],
  ['delete', 'a\x7fb', 'a\\x7fb'],
  ['text turned around', 'a\u202eb', 'a\\u{202e}b'],
  ['a tag nobody sees', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
])('%s is spelled out', (_, text, shown) => {
  expect(visible(text)).toBe(shown)
  expect(inOneLine(text)).toBe(shown)
})

test('newline, tab, accents, other scripts and joined emoji stay as they are', () => {
  const text = 'né\n\tمرحبا 你好 👩‍👩‍👧'
  expect(visible(text)).toBe(text)
  expect(visible('a\r\nb')).toBe('a\nb')
})

test('in one line newline and tab are spelled out too', () => {
  expect(inOneLine('a\r\n\tb')).toBe('a\\r\\n\\tb')
})

test('what is too long loses its middle, and no character is halved', () => {
  expect(cut('abcdefghij', 10)).toBe('abcdefghij')
  expect(cut('abcdefghij', 5)).toBe('ab…ij')
  expect(cut('😀😀😀😀😀😀', 5)).toBe('😀😀…😀😀')
  expect(cut('😀😀😀', 3)).toBe('😀😀😀')
  expect(cut('abc', 1)).toBe('…')
})
