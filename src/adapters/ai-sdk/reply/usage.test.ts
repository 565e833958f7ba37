import { expect, test } from 'vitest'
import { toUsage } from './usage.ts'

test.each([
  [
    'thoughts included in the output count',
    { inputTokens: 12, outputTokens: 8, totalTokens: 20, reasoningTokens: 3 },
    5,
    20,
  ],
  ['thoughts counted separately', { inputTokens: 12, outputTokens: 5, totalTokens: 20, reasoningTokens: 3 }, 5, 20],
  ['no thoughts', { inputTokens: 12, outputTokens: 8, totalTokens: 20 }, 8, 20],
  ['no total', { inputTokens: 12, outputTokens: 8, totalTokens: undefined }, 8, 20],
  ['nested counts', { inputTokens: { total: 12 }, outputTokens: { total: 8, reasoning: 3 } }, 5, 20],
  ['an output count only', { inputTokens: {}, outputTokens: { total: 8 } }, 8, 8],
])('toUsage() converts token counts: %s', (_, usage, candidatesTokenCount, totalTokenCount) => {
  expect(toUsage(usage)).toMatchObject({ candidatesTokenCount, totalTokenCount })
})

test.each([
  undefined,
  'many',
  {},
  { inputTokens: 'many' },
  { inputTokens: Number.NaN },
  { inputTokens: {}, outputTokens: {} },
])('toUsage() returns no token counts for %o', (usage) => expect(toUsage(usage)).toBeUndefined())
