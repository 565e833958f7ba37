import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createPaint } from './paint.ts'
import { StreamingText } from './streaming-text.ts'

function show(text: string, { width = 40, step = text.length, indent = '', colour = true } = {}): string {
  const flow = new StreamingText({ width, isMarkdown: colour, paint: createPaint(colour) }, indent)
  let out = ''
  for (let at = 0; at < text.length; at += step) out += flow.write(text.slice(at, at + step))
  return out + flow.end()
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

test('markdown is shown in styles and wrapped between words', () => {
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

test('each marker has its style', () => {
  expect(show('**b** *i* `c`')).toBe('\x1b[1mb\x1b[22m \x1b[3mi\x1b[23m \x1b[36mc\x1b[39m\n')
  expect(show('# H')).toBe('\x1b[1m\x1b[4mH\x1b[24m\x1b[22m\n')
})

test.each([1, 2, 3, 7, 50])('streamed in pieces of %i characters it looks the same', (step) => {
  expect(show(article, { step })).toBe(show(article))
})

test('a word is written as soon as it is whole, and what was written is never drawn again', () => {
  const flow = new StreamingText({ width: 40, isMarkdown: true, paint: createPaint(true) })
  expect(flow.write('It is ')).toBe('It is')
  expect(flow.write('ver')).toBe('')
  expect(flow.write('y **co')).toBe(' very')
  expect(flow.write('ld** today')).toBe(' \x1b[1mcold\x1b[22m')
  expect(flow.isMidLine).toBe(true)
  expect(flow.end()).toBe(' today\n')
})

test('a link always shows its address', () => {
  expect(plain('[https://bank.example](https://evil.example)', { width: 100 })).toContain('(https://evil.example)')
})

test('a table that does not fit is a list', () => {
  expect(plain('|Name|Text|\n|-|-|\n|a|bbbbbbbbbbbb|\n', { width: 12 })).toBe('Name: a\nText: bbbbbbbbbbbb\n\n')
})

test('rows that only look like a table are shown as they are', () => {
  expect(plain('| a | b\n| c\n')).toBe('| a | b\n| c\n')
})

test('a long address is not broken', () => {
  const address = `https://x.dev/${'a'.repeat(60)}`
  expect(plain(`see ${address} now`)).toBe(`see\n${address}\nnow\n`)
})

test('text inside of an agent tool is indented, its further rows too', () => {
  expect(plain('one two three', { width: 12, indent: '  ' })).toBe('  one two\n  three\n')
})

test('a block of code goes on after an interruption', () => {
  const flow = new StreamingText({ width: 40, isMarkdown: true, paint: createPaint(false) })
  expect(flow.write('```\na')).toBe('')
  expect(flow.end()).toBe('  a\n')
  expect(flow.write('b *c* d\n```\n*e*\n')).toBe('  b *c* d\ne\n')
})

test('without colours markdown is shown as it was written, wrapped', () => {
  expect(show('# A **bold** line\nand a second', { colour: false, width: 12 })).toBe(
    '# A **bold**\nline\nand a second\n',
  )
})

test('without a terminal every character is written at once, unwrapped', () => {
  const flow = new StreamingText({ isMarkdown: false, paint: createPaint(false) })
  expect(flow.write('It is ve')).toBe('It is ve')
  expect(flow.write('ry\n\ncold ')).toBe('ry\n\ncold ')
  expect(flow.end()).toBe('\n')
})

test('a character and a line end that were streamed in two halves are whole', () => {
  const flow = new StreamingText({ isMarkdown: false, paint: createPaint(false) })
  expect(flow.write('a\ud83d') + flow.write('\ude00\r') + flow.write('\nb') + flow.end()).toBe('a😀\nb\n')
})

const ESCAPE = '\x1b'
const OWN_STYLES = new RegExp(`${ESCAPE}\\[\\d{1,2}m`, 'g')

describe('hostile text', () => {
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
  test.each(evil)('%j never reaches the terminal, wherever markdown puts it and however it is cut', (text) => {
    for (const place of places) {
      for (const step of [1, 2, 100]) {
        const out = show(place(`x${text}y`), { step })
        const own = out.replaceAll(OWN_STYLES, '')
        expect(own.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u)
        expect(own).toMatch(/\\[xru]/)
      }
    }
  })

  test('text that pretends to be a style of ours is spelled out', () => {
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
  ])('%s are shown, all of them, also in small pieces', (_, text) => {
    const count = (shown: string): number => shown.replaceAll(/[\s•│─*]/g, '').length
    const shown = plain(text, { step: 50 })
    if (!/^[*\s-]/.test(text)) expect(count(shown)).toBe(count(text))
  })
})
