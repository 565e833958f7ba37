import { expect, test } from 'vitest'
import { CallBudget, MAX_CALL_BYTES, MAX_CALLS, MAX_TOTAL_BYTES } from './call-budget.ts'

test('CallBudget allows 2000 tool calls and stops the run at the next call', () => {
  const budget = new CallBudget()
  for (let i = 0; i < MAX_CALLS; i++) expect(budget.spend(100)).toBeUndefined()
  expect(budget.spend(100)).toBe('the code made more than 2000 tool calls')
})

test('CallBudget stops the run at a tool call that is larger than 1 MB', () => {
  expect(new CallBudget().spend(MAX_CALL_BYTES)).toBeUndefined()
  expect(new CallBudget().spend(MAX_CALL_BYTES + 1)).toBe('a tool call is larger than 1000000 bytes')
})

test('CallBudget stops the run at tool calls that are larger than 32 MB in total', () => {
  const budget = new CallBudget()
  for (let bytes = 0; bytes < MAX_TOTAL_BYTES; bytes += MAX_CALL_BYTES)
    expect(budget.spend(MAX_CALL_BYTES)).toBeUndefined()
  expect(budget.spend(1)).toBe('the tool calls of the code exceed 32000000 bytes in total')
})
