import { expect, test } from 'vitest'
import { tickTexts, workOf } from './time-scale.ts'
import type { Step } from './timeline.ts'

test('a step that took no measurable time is still drawn', () => {
  const step = { from: 5, to: 5, waits: [] } as unknown as Step
  expect(workOf(step)).toEqual([{ from: 5, to: 5 }])
})

test('the labels of the axis differ from each other, also after waiting that is shortened', () => {
  expect(tickTexts([0, 500, 52_900, 52_910, 52_920])).toEqual(['0', '500 ms', '52.900 s', '52.910 s', '52.920 s'])
  expect(tickTexts([3_605_100, 3_605_600])).toEqual(['60 min 5.100 s', '60 min 5.600 s'])
})
