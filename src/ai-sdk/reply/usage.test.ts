import { expect, test } from 'vitest'
import { toFinish, toUsage } from './usage.ts'

test.each([
  ['thoughts counted as output', { inputTokens: 12, outputTokens: 8, totalTokens: 20, reasoningTokens: 3 }, 5, 20],
  ['thoughts counted beside it', { inputTokens: 12, outputTokens: 5, totalTokens: 20, reasoningTokens: 3 }, 5, 20],
  ['no thoughts', { inputTokens: 12, outputTokens: 8, totalTokens: 20 }, 8, 20],
  ['no total', { inputTokens: 12, outputTokens: 8, totalTokens: undefined }, 8, 20],
  ['nested', { inputTokens: { total: 12 }, outputTokens: { total: 8, reasoning: 3 } }, 5, 20],
  ['output only', { inputTokens: {}, outputTokens: { total: 8 } }, 8, 8],
])('tokens, %s', (_, usage, candidatesTokenCount, totalTokenCount) => {
  expect(toUsage(usage)).toMatchObject({ candidatesTokenCount, totalTokenCount })
})

test.each([
  undefined,
  'many',
  {},
  { inputTokens: 'many' },
  { inputTokens: Number.NaN },
  { inputTokens: {}, outputTokens: {} },
])('tokens nobody counted are not made up: %o', (usage) => expect(toUsage(usage)).toBeUndefined())

test.each([
  ['stop', 'STOP'],
  ['tool-calls', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content-filter', 'SAFETY'],
  ['error', 'OTHER'],
  ['unknown', 'OTHER'],
  [undefined, 'OTHER'],
  [{ unified: 'stop', raw: 'end_turn' }, 'STOP'],
  [{ unified: 'error', raw: 'MALFORMED_FUNCTION_CALL' }, 'MALFORMED_FUNCTION_CALL'],
])('%o ended with %s', (given, reason) => expect(toFinish(given).reason).toBe(reason))
