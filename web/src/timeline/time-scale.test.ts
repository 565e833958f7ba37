import { expect, test } from 'vitest'
import { workOf } from './time-scale.ts'
import type { Step } from './timeline.ts'

test('a step that took no measurable time is still drawn', () => {
  const step = { from: 5, to: 5, waits: [] } as unknown as Step
  expect(workOf(step)).toEqual([{ from: 5, to: 5 }])
})
