import { expect, test } from 'vitest'
import type { Entry, Event } from '../../../src/core/event/event.ts'
import { findTarget, invocationOf } from './find-target.ts'

const eventOf = (id: string, invocationId: string, parts: NonNullable<Event['content']>['parts']): Event => {
  return { id, invocationId, author: 'desk', timestamp: 0, actions: {}, content: { role: 'model', parts } }
}
const call = { functionCall: { id: 'c1', name: 'pay', args: {} } }
const response = { functionResponse: { id: 'c1', name: 'pay', response: {} } }
const entries: readonly Entry[] = [
  { seq: 1, event: eventOf('e1', 'i1', [{ text: 'Hi' }]) },
  { seq: 2, event: eventOf('e2', 'i2', [call]) },
  {
    seq: 3,
    record: {
      type: 'request',
      invocationId: 'i2',
      id: 'r1',
      callId: 'c1',
      kind: 'confirmation',
    } as Entry['record'] & {},
  },
  { seq: 4, event: eventOf('e3', 'i2', [response]) },
]

test('a link names an event, a call or a request, and what is shown is a message or a call', () => {
  expect(findTarget(entries, 'e1')).toEqual({ eventId: 'e1', callId: undefined })
  expect(findTarget(entries, 'c1')).toEqual({ eventId: 'e2', callId: 'c1' })
  expect(findTarget(entries, 'e3')).toEqual({ eventId: 'e3', callId: 'c1' })
  expect(findTarget(entries, 'r1')).toEqual({ eventId: '', callId: 'c1' })
  expect(findTarget(entries, 'other')).toBeUndefined()
  expect(invocationOf(entries, { eventId: 'e1' })).toBe('i1')
  expect(invocationOf(entries, { eventId: '', callId: 'c1' })).toBe('i2')
})
