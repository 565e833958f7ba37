import { expect, test } from 'vitest'
import { callTimeOf } from './call-time.ts'
import { createEvent, type Event } from './event.ts'

const at = (callTimes: unknown): ReturnType<typeof callTimeOf> =>
  callTimeOf({ ...createEvent({ author: 'desk', timestamp: 9 }), callTimes } as Event, 'c1')

test('callTimeOf() returns the recorded times of a call', () => {
  expect(at({ c1: { startedAt: 1, endedAt: 2 } })).toEqual({ startedAt: 1, endedAt: 2 })
})

test.each([
  ['no times', undefined],
  ['the times of another call', { c2: { startedAt: 1, endedAt: 2 } }],
  ['a number', { c1: 5 }],
  ['null', { c1: null }],
  ['half of the times', { c1: { endedAt: 2 } }],
  ['text', { c1: { startedAt: '1', endedAt: '2' } }],
])('callTimeOf() ends a call with its event for %s', (_, callTimes) => {
  expect(at(callTimes)).toEqual({ endedAt: 9 })
})
