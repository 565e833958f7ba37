import { describe, expect, test } from 'vitest'
import type { Part } from '../content/content.ts'
import { codeCallOf, responseIn, responsePart } from './code-call.ts'
import { createEvent, isFinalResponse } from './event.ts'

const code = (id?: string): Part => ({ executableCode: { ...(id && { id }), language: 'js', code: '1' } })
const result = (id?: string): Part => ({
  codeExecutionResult: { ...(id && { id }), outcome: 'OUTCOME_OK', output: '1' },
})

describe('executable code in an event', () => {
  test.each<[string, Part[], boolean]>([
    ['has an id and no result', [code('a')], true],
    ['has no result next to code with a result', [code('a'), code('b'), result('b')], true],
  ])('is a call when it %s', (_, parts, isCall) => {
    expect(codeCallOf(parts, 0) !== undefined).toBe(isCall)
  })

  test.each<[string, Part[]]>([
    ['has its result right after it', [code('a'), result()]],
    ['has its result after something else', [code('a'), { text: 'so' }, result('a')]],
    ['has no id', [code()]],
    ['is a text', [{ text: 'hello' }]],
  ])('is not a call when it %s', (_, parts) => {
    expect(codeCallOf(parts, 0)).toBeUndefined()
  })

  test('makes a reply not final until the code has run', () => {
    const isFinal = (parts: Part[]): boolean =>
      isFinalResponse(createEvent({ author: 'agent', content: { role: 'model', parts } }))
    expect(isFinal([{ text: 'see' }, code('a')])).toBe(false)
    expect(isFinal([code(), result(), { text: 'It is 1.' }])).toBe(true)
  })
})

describe('the response to a code call', () => {
  const call = { id: 'a', name: 'execute_code', isCode: true }
  test.each([
    [{ outcome: 'OK', output: '1' }, 'OUTCOME_OK', '1'],
    [{ outcome: 'FAILED', output: 'no' }, 'OUTCOME_FAILED', 'no'],
    [{ outcome: 'DEADLINE_EXCEEDED', output: '' }, 'OUTCOME_DEADLINE_EXCEEDED', ''],
    [{ error: 'refused', errorCode: 'CANCELLED' }, 'OUTCOME_FAILED', 'refused'],
    [{ error: 'too slow', errorCode: 'TIMEOUT' }, 'OUTCOME_DEADLINE_EXCEEDED', 'too slow'],
    [{ truncated: true, head: 'x' }, 'OUTCOME_OK', '{"truncated":true,"head":"x"}'],
    [{ outcome: 'constructor', output: '1' }, 'OUTCOME_OK', '{"outcome":"constructor","output":"1"}'],
  ])('%j is recorded as %s', (response, outcome, output) => {
    expect(responsePart(call, response)).toEqual({ codeExecutionResult: { id: 'a', outcome, output } })
  })

  test('is read from the log as a success or an error', () => {
    expect(responseIn(responsePart(call, { outcome: 'OK', output: '1' }))?.response).toEqual({ output: '1' })
    expect(responseIn(responsePart(call, { outcome: 'FAILED', output: 'no' }))?.response).toEqual({ error: 'no' })
    expect(responseIn(responsePart(call, { outcome: 'FAILED', output: '' }))?.response).toEqual({
      error: 'OUTCOME_FAILED',
    })
  })

  test('is not read from a result without an id', () => {
    expect(responseIn(result())).toBeUndefined()
  })
})

test('responsePart() creates a functionResponse part for a tool call', () => {
  const part = responsePart({ id: 'a', name: 'look', isCode: false }, { x: 1 })
  expect(part).toEqual({ functionResponse: { id: 'a', name: 'look', response: { x: 1 } } })
  expect(responseIn(part)).toBe(part.functionResponse)
})
