import { expect, test } from 'vitest'
import { escapeJson, escapeLine, escapeText } from './escape.ts'

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
  expect(escapeText(text)).toBe(shown)
  expect(escapeLine(text)).toBe(shown)
})

test('newline, tab, accents, other scripts and joined emoji stay as they are', () => {
  const text = 'né\n\tمرحبا 你好 👩‍👩‍👧'
  expect(escapeText(text)).toBe(text)
  expect(escapeText('a\r\nb')).toBe('a\nb')
})

test('in one line newline and tab are spelled out too', () => {
  expect(escapeLine('a\r\n\tb')).toBe('a\\r\\n\\tb')
})

test.each([
  ['a screen that is wiped', '\x1b[2J', '"\\u001b[2J"'],
  ['an eight-bit escape', '\x9b2J', '"\\u009b2J"'],
  ['text turned around', 'txt\u202eexe', '"txt\\u202eexe"'],
  ['joiners', 'a\u200db\u200cc', '"a\\u200db\\u200cc"'],
  ['a soft hyphen, a filler and a variation', 'a\u00adb\u3164c\ufe0f', '"a\\u00adb\\u3164c\\ufe0f"'],
  ['a space that is another one', 'a\u00a0b c', '"a\\u00a0b c"'],
  ['the spelling itself', 'a\\u{202e}', '"a\\\\u{202e}"'],
  ['an object', { to: 'né 你好', amount: 5 }, '{"to":"né 你好","amount":5}'],
  ['nothing', undefined, 'undefined'],
])('%s is exactly what is shown', (_, value, shown) => {
  expect(escapeJson(value)).toBe(shown)
  if (value !== undefined) expect(JSON.parse(shown)).toEqual(value)
})

test('ten thousand lines are one line, to the last', () => {
  const shown = escapeJson({ text: `${'x\n'.repeat(10_000)}the end` })
  expect(shown).not.toContain('\n')
  expect(shown.match(/x\\n/g)).toHaveLength(10_000)
  expect(shown).toMatch(/the end"}$/)
})
