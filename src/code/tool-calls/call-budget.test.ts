import { expect, test } from 'vitest'
import { CallBudget, MAX_BYTES, MAX_CALL_BYTES, MAX_CALLS } from './call-budget.ts'

test('allows many calls, each within its size', () => {
  const budget = new CallBudget()
  for (let i = 0; i < MAX_CALLS; i++) expect(budget.spend(100)).toBeUndefined()
  expect(budget.spend(100)).toBe('it called tools more than 2000 times')
})

test('stops a call that is too large', () => {
  expect(new CallBudget().spend(MAX_CALL_BYTES)).toBeUndefined()
  expect(new CallBudget().spend(MAX_CALL_BYTES + 1)).toBe('a tool call is larger than 1000000 bytes')
})

test('stops calls that are too large together', () => {
  const budget = new CallBudget()
  for (let bytes = 0; bytes < MAX_BYTES; bytes += MAX_CALL_BYTES) expect(budget.spend(MAX_CALL_BYTES)).toBeUndefined()
  expect(budget.spend(1)).toBe('its tool calls are larger than 32000000 bytes together')
})
