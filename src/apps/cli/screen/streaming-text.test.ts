import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createPaint } from './paint.ts'
import { StreamingText } from './streaming-text.ts'

function show(text: string, { width = 40, step = text.length, indent = '', colour = true } = {}): string {
  const output = new StreamingText({ width, isMarkdown: colour, paint: createPaint(colour) }, indent)
  let out = ''
  for (let at = 0; at < text.length; at += step) out += output.write(text.slice(at, at + step))
  return out + output.end()
}

const plain = (text: string, options?: Parameters<typeof show>[1]): string =>
  stripVTControlCharacters(show(text, options))

const article = `# A *heading*

Some **bold words** in a line that is longer than one row, *slanted*, \`co*d*e\`, a_b_c and 2 * 3.
See [the page](https://x.dev/a_b) or https://y.dev, ~~gone~~, ***both***, \\*literal\\*, [1] and *open.

- one item that is long enough to need a second row
  - inner
12. numbered
> quoted text that is long enough to need a second row

\`\`\`ts
const a = **not bold** // | no table |
\t- no list
\`\`\`

| Name | Size |
|:--|--:|
| a \\| b | **10** |
| long name | 5 |

---
你好你好你好你好你好你好你好你好你好你好你好你好你好，end`

test('streaming text renders markdown as styles and wraps between words', () => {
  expect(plain(article)).toBe(`A heading

Some bold words in a line that is longer
than one row, slanted, co*d*e, a_b_c and
2 * 3.
See the page (https://x.dev/a_b) or
https://y.dev, gone, both, *literal*,
[1] and *open.

• one item that is long enough to need a
  second row
  • inner
12. numbered
│ quoted text that is long enough to
│ need a second row

  const a = **not bold** // | no table |
      - no list

Name       Size
─────────  ────
a | b        10
long name     5

────────────────────────────────────────
你好你好你好你好你好你好你好你好你好你好
你好你好你好，end
`)
})

test('each markdown marker has its style', () => {
  expect(show('**b** *i* `c`')).toBe('\x1b[1mb\x1b[22m \x1b[3mi\x1b[23m \x1b[36mc\x1b[39m\n')
  expect(show('# H')).toBe('\x1b[1m\x1b[4mH\x1b[24m\x1b[22m\n')
})

test.each([1, 2, 3, 7, 50])('markdown streamed in chunks of %i characters looks the same', (step) => {
  expect(show(article, { step })).toBe(show(article))
})

test('a word is written as soon as it is complete and is never redrawn', () => {
  const text = new StreamingText({ width: 40, isMarkdown: true, paint: createPaint(true) })
  expect(text.write('It is ')).toBe('It is')
  expect(text.write('ver')).toBe('')
  expect(text.write('y **co')).toBe(' very')
  expect(text.write('ld** today')).toBe(' \x1b[1mcold\x1b[22m')
  expect(text.isMidLine).toBe(true)
  expect(text.end()).toBe(' today\n')
})

test('a markdown link always shows its address', () => {
  expect(plain('[https://bank.example](https://evil.example)', { width: 100 })).toContain('(https://evil.example)')
})

test('a markdown table that does not fit becomes a list', () => {
  expect(plain('|Name|Text|\n|-|-|\n|a|bbbbbbbbbbbb|\n', { width: 12 })).toBe('Name: a\nText: bbbbbbbbbbbb\n\n')
})

test('rows that only look like a markdown table are shown unchanged', () => {
  expect(plain('| a | b\n| c\n')).toBe('| a | b\n| c\n')
})

test('a long address is not wrapped', () => {
  const address = `https://x.dev/${'a'.repeat(60)}`
  expect(plain(`see ${address} now`)).toBe(`see\n${address}\nnow\n`)
})

test('wrapped rows keep the indent of the text', () => {
  expect(plain('one two three', { width: 12, indent: '  ' })).toBe('  one two\n  three\n')
})

test('a code block in streaming text continues after an interruption', () => {
  const text = new StreamingText({ width: 40, isMarkdown: true, paint: createPaint(false) })
  expect(text.write('```\na')).toBe('')
  expect(text.end()).toBe('  a\n')
  expect(text.write('b *c* d\n```\n*e*\n')).toBe('  b *c* d\ne\n')
})

test('without colours markdown is wrapped but not rendered', () => {
  expect(show('# A **bold** line\nand a second', { colour: false, width: 12 })).toBe(
    '# A **bold**\nline\nand a second\n',
  )
})

test('without a terminal text is written unchanged and without delay', () => {
  const text = new StreamingText({ isMarkdown: false, paint: createPaint(false) })
  expect(text.write('It is ve')).toBe('It is ve')
  expect(text.write('ry\n\ncold ')).toBe('ry\n\ncold ')
  expect(text.end()).toBe('\n')
})

test('a character or line end split over two chunks is written as one', () => {
  const text = new StreamingText({ isMarkdown: false, paint: createPaint(false) })
  expect(text.write('a\ud83d') + text.write('\ude00\r') + text.write('\nb') + text.end()).toBe('a😀\nb\n')
})

const ESCAPE = '\x1b'
const OWN_STYLES = new RegExp(`${ESCAPE}\\[\\d{1,2}m`, 'g')

describe('streaming text from a hostile model', () => {
  const evil = ['\x1b[2J', '\x1b]0;owned\x07', '\x9b2J', '\r', '\b', '\u202e', '\u{e0041}', '\x1b]8;;http://x\x1b\\']
  const places = [
    (text: string) => text,
    (text: string) => `**${text}**`,
    (text: string) => `*${text}* \`${text}\``,
    (text: string) => `# ${text}\n- ${text}\n> ${text}`,
    (text: string) => `\`\`\`${text}\n${text}\n\`\`\``,
    (text: string) => `[${text}](${text})`,
    (text: string) => `|${text}|b|\n|-|-|\n|${text}|${text}|\n`,
    (text: string) => `\\${text}`,
  ]
  test.each(evil)('escapes %j in every markdown block and chunk size', (text) => {
    for (const place of places) {
      for (const step of [1, 2, 100]) {
        const out = show(place(`x${text}y`), { step })
        const own = out.replaceAll(OWN_STYLES, '')
        expect(own.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u)
        expect(own).toMatch(/\\[xru]/)
      }
    }
  })

  test('escapes colour codes in the text', () => {
    expect(plain('a\x1b[31mred')).toBe('a\\x1b[31mred\n')
  })

  test.each([
    ['stars', '*'.repeat(20_000)],
    ['backticks', '`'.repeat(20_000)],
    ['brackets', '['.repeat(20_000)],
    ['links', '[a]('.repeat(5_000)],
    ['underscores', '_a '.repeat(7_000)],
    ['hashes', '#'.repeat(20_000)],
    ['dashes', '- '.repeat(10_000)],
    ['digits', '1'.repeat(20_000)],
    ['a table without end', '|a'.repeat(10_000)],
    ['rows without end', '|a|\n'.repeat(10_000)],
    ['spaces', ' '.repeat(20_000)],
  ])('shows all of %s, also in small chunks', (_, text) => {
    const count = (shown: string): number => shown.replaceAll(/[\s•│─*]/g, '').length
    const shown = plain(text, { step: 50 })
    if (!/^[*\s-]/.test(text)) expect(count(shown)).toBe(count(text))
  })
})
