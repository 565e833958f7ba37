import { expect, test } from 'vitest'
import { escapeJson, escapeLine, escapeText } from './escape.ts'

test.each([
  ['an escape sequence', '\x1b[2Jgone', '\\x1b[2Jgone'],
  ['a title that types a command', '\x1b]0;rm\x07', '\\x1b]0;rm\\x07'],
  ['an eight-bit escape', '\x9b2J', '\\x9b2J'],
  ['a carriage return over a line', 'evil\rgood', 'evil\\rgood'],
  ['a backspace', 'a\bb', 'a\\x08b'],
  ['delete', 'a\x7fb', 'a\\x7fb'],
  ['a direction override', 'a\u202eb', 'a\\u{202e}b'],
  ['an invisible tag', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
])('escapeText escapes %s', (_, text, shown) => {
  expect(escapeText(text)).toBe(shown)
  expect(escapeLine(text)).toBe(shown)
})

test('escapeText keeps newline, tab, accents, other scripts and joined emoji', () => {
  const text = 'né\n\tمرحبا 你好 👩‍👩‍👧'
  expect(escapeText(text)).toBe(text)
  expect(escapeText('a\r\nb')).toBe('a\nb')
})

test('escapeLine also escapes newline and tab', () => {
  expect(escapeLine('a\r\n\tb')).toBe('a\\r\\n\\tb')
})

test.each([
  ['a sequence that clears the screen', '\x1b[2J', '"\\u001b[2J"'],
  ['an eight-bit escape', '\x9b2J', '"\\u009b2J"'],
  ['a direction override', 'txt\u202eexe', '"txt\\u202eexe"'],
  ['joiners', 'a\u200db\u200cc', '"a\\u200db\\u200cc"'],
  ['a soft hyphen, a filler and a variation selector', 'a\u00adb\u3164c\ufe0f', '"a\\u00adb\\u3164c\\ufe0f"'],
  ['an annotation, which terminals hide', 'a\ufff9b\ufffbc', '"a\\ufff9b\\ufffbc"'],
  ['a blank pattern of dots', 'a\u2800b', '"a\\u2800b"'],
  ['a character that is not assigned', 'a\uffffb', '"a\\uffffb"'],
  ['a no-break space', 'a\u00a0b c', '"a\\u00a0b c"'],
  ['an escape sequence in the text', 'a\\u{202e}', '"a\\\\u{202e}"'],
  ['an object', { to: 'né 你好', amount: 5 }, '{"to":"né 你好","amount":5}'],
  ['nothing', undefined, 'undefined'],
])('escapeJson shows %s and parses to the same value', (_, value, shown) => {
  expect(escapeJson(value)).toBe(shown)
  if (value !== undefined) expect(JSON.parse(shown)).toEqual(value)
})

test('escapeJson shows ten thousand lines as one line in full', () => {
  const shown = escapeJson({ text: `${'x\n'.repeat(10_000)}the end` })
  expect(shown).not.toContain('\n')
  expect(shown.match(/x\\n/g)).toHaveLength(10_000)
  expect(shown).toMatch(/the end"}$/)
})
