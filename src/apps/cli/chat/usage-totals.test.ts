import { expect, test } from 'vitest'
import { createEvent } from '../../../core/event/event.ts'
import { UsageTotals } from './usage-totals.ts'

test('usage totals add up the tokens of all model calls and the time of all runs', () => {
  const totals = new UsageTotals()
  totals.add(
    createEvent({ usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 10, thoughtsTokenCount: 5 } }),
  )
  totals.add(createEvent({ usageMetadata: { promptTokenCount: 204, candidatesTokenCount: 1 } }))
  totals.add(createEvent({ partial: true, usageMetadata: { promptTokenCount: 204 } }))
  totals.add(createEvent({}))
  totals.addTime(1_250)
  totals.addTime(1_000)
  expect(totals.toString()).toBe('1,204 tokens in, 16 out, 2.3s')
})

test('usage totals omit tokens when no model reports a valid count', () => {
  const totals = new UsageTotals()
  totals.add(
    createEvent({ usageMetadata: { promptTokenCount: '\x1b[2J', candidatesTokenCount: -1, thoughtsTokenCount: null } }),
  )
  totals.add(createEvent({ usageMetadata: { promptTokenCount: Number.NaN } }))
  expect(totals.toString()).toBe('0.0s')
})
