import { expect, test } from 'vitest'
import { shownResult } from './shown-result.ts'

test('a failed call shows its error once, and what it returned besides', () => {
  expect(shownResult({ error: 'busy', errorCode: 'EXECUTION_FAILED' }, true)).toBeUndefined()
  expect(shownResult({ error: 'busy', errorCode: 'EXECUTION_FAILED', text: 'Half.' }, true)).toEqual({ text: 'Half.' })
  expect(shownResult({ result: 7 }, false)).toBe(7)
  expect(shownResult({ status: 'open', error: null }, false)).toEqual({ status: 'open', error: null })
})
