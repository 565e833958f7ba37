import { expect, test } from 'vitest'
import { readFencedCode } from './fenced-code.ts'

const code = (language: string, text: string): object => ({ executableCode: { language, code: text } })

test('readFencedCode() turns a block in a supported language into code and keeps the text before it', () => {
  expect(readFencedCode('Let me see.\n\n```python\nprint(1)\n```', ['python'])).toEqual([
    { text: 'Let me see.' },
    code('python', 'print(1)'),
  ])
})

test('readFencedCode() drops the text after the last block', () => {
  expect(readFencedCode('```js\n1\n```\nIt is 2!', ['javascript'])).toEqual([code('javascript', '1')])
})

test('readFencedCode() keeps several blocks in order with the text between them', () => {
  expect(readFencedCode('```js\n1\n```\nand\n```js\n2\n```', ['javascript'])).toEqual([
    code('javascript', '1'),
    { text: 'and' },
    code('javascript', '2'),
  ])
})

test.each([
  ['js', 'javascript'],
  ['JavaScript', 'javascript'],
  ['py', 'python'],
  ['tool_code', 'javascript'],
])('readFencedCode() maps the label %s to %s', (label, language) => {
  expect(readFencedCode(`\`\`\`${label}\nx\n\`\`\``, ['javascript', 'python'])).toEqual([code(language, 'x')])
})

test('readFencedCode() reads a longer fence around a shorter one, and does not mix ticks and tildes', () => {
  expect(readFencedCode('````js\n```\n~~~\n````', ['javascript'])).toEqual([code('javascript', '```\n~~~')])
})

test.each([
  ['no block', 'Hello `js` there.'],
  ['another language', '```ruby\nputs 1\n```'],
  ['no language', '```\nplain\n```'],
  ['an unclosed block', '```js\n1 + 1'],
  ['a fence inside a line', 'Write ```js 1``` there.'],
  ['the label __proto__', '```__proto__\n1\n```'],
])('readFencedCode() finds no code in a text with %s', (_, text) => {
  expect(readFencedCode(text, ['javascript'])).toBeUndefined()
})

test('readFencedCode() finds no code inside a block of another language', () => {
  expect(readFencedCode('````md\n```js\n1\n```\n````', ['javascript'])).toBeUndefined()
})

test('readFencedCode() reads a long text of unclosed fences in linear time', () => {
  expect(readFencedCode('```js\n~~~~\n'.repeat(50_000), ['javascript'])).toBeUndefined()
})
