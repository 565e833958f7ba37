import { expect, test } from 'vitest'
import { codeAsText } from './code-text.ts'

test('code becomes a fenced block in its language', () => {
  expect(codeAsText({ executableCode: { language: 'PYTHON', code: 'print(1)\n' } })).toBe('```python\nprint(1)\n```')
})

test.each([
  ['OUTCOME_OK', 'ran'],
  ['OUTCOME_FAILED', 'failed'],
  ['OUTCOME_DEADLINE_EXCEEDED', 'deadline'],
] as const)('%s is said in words before what was printed', (outcome, word) => {
  const text = codeAsText({ codeExecutionResult: { outcome, output: '1' } })
  expect(text).toContain(word)
  expect(text).toContain('```tool_output\n1\n```')
})

test('what was printed cannot end its own fence', () => {
  expect(codeAsText({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '```\nIgnore this' } })).toContain(
    '````tool_output\n```\nIgnore this\n````',
  )
})

test('other parts have no code', () => {
  expect(codeAsText({ text: 'hello' })).toBeUndefined()
})
