import { expect, test } from 'vitest'
import { fencedCode } from './fenced-code.ts'

const code = (language: string, text: string): object => ({ executableCode: { language, code: text } })

test('a block in a language that can be run becomes code, and what was said before it stays', () => {
  expect(fencedCode('Let me see.\n\n```python\nprint(1)\n```', ['python'])).toEqual([
    { text: 'Let me see.' },
    code('python', 'print(1)'),
  ])
})

test('what follows the last block is dropped: the result was not known when it was written', () => {
  expect(fencedCode('```js\n1\n```\nIt is 2!', ['javascript'])).toEqual([code('javascript', '1')])
})

test('several blocks stay in order, with what stands between them', () => {
  expect(fencedCode('```js\n1\n```\nand\n```js\n2\n```', ['javascript'])).toEqual([
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
])('%s is %s', (label, language) => {
  expect(fencedCode(`\`\`\`${label}\nx\n\`\`\``, ['javascript', 'python'])).toEqual([code(language, 'x')])
})

test('a longer fence holds a shorter one, and a tilde is no tick', () => {
  expect(fencedCode('````js\n```\n~~~\n````', ['javascript'])).toEqual([code('javascript', '```\n~~~')])
})

test.each([
  ['no block', 'Hello `js` there.'],
  ['another language', '```ruby\nputs 1\n```'],
  ['no language', '```\nplain\n```'],
  ['a block that never ends', '```js\n1 + 1'],
  ['a fence inside a line', 'Write ```js 1``` there.'],
  ['an odd name', '```__proto__\n1\n```'],
])('%s: nothing to run', (_, text) => {
  expect(fencedCode(text, ['javascript'])).toBeUndefined()
})

test('a block of another language keeps what looks like code inside it', () => {
  expect(fencedCode('````md\n```js\n1\n```\n````', ['javascript'])).toBeUndefined()
})

test('a long text of fences that never end is read once', () => {
  expect(fencedCode('```js\n~~~~\n'.repeat(50_000), ['javascript'])).toBeUndefined()
})
