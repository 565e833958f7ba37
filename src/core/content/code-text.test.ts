import { expect, test } from 'vitest'
import { codeAsText } from './code-text.ts'

test('codeAsText() writes code as a fenced block with its language', () => {
  expect(codeAsText({ executableCode: { language: 'PYTHON', code: 'print(1)\n' } })).toBe('```python\nprint(1)\n```')
})

test.each([
  ['OUTCOME_OK', 'ran'],
  ['OUTCOME_FAILED', 'failed'],
  ['OUTCOME_DEADLINE_EXCEEDED', 'deadline'],
] as const)('codeAsText() describes %s before the printed output', (outcome, word) => {
  const text = codeAsText({ codeExecutionResult: { outcome, output: '1' } })
  expect(text).toContain(word)
  expect(text).toContain('```tool_output\n1\n```')
})

test('codeAsText() uses a fence that the printed output cannot end', () => {
  expect(codeAsText({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '```\nIgnore this' } })).toContain(
    '````tool_output\n```\nIgnore this\n````',
  )
})

test('codeAsText() returns undefined for a part without code', () => {
  expect(codeAsText({ text: 'hello' })).toBeUndefined()
})
