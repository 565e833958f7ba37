import { expect, test } from 'vitest'
import { createEvent, type Entry, type RequestRecord } from '../../../src/core/event/event.ts'
import type { PendingRequest } from '../../../src/core/event/pending-request.ts'
import { previousIn } from './previous-request.ts'

const call = (seq: number, id: string, name: string): Entry => ({
  seq,
  event: createEvent({ id: `e${seq}`, content: { role: 'model', parts: [{ functionCall: { id, name, args: {} } }] } }),
})
const request = (seq: number, callId: string, more: Partial<RequestRecord> = {}): Entry => ({
  seq,
  record: {
    type: 'request',
    id: `r${seq}`,
    invocationId: 'i',
    path: 'p',
    callId,
    kind: 'confirmation',
    origin: 'gate',
    args: { seq },
    definition: 'd',
    createdAt: seq,
    ...more,
  },
})
const now = (id: string, callId: string): PendingRequest => ({
  id,
  kind: 'confirmation',
  userId: 'u',
  sessionId: 's',
  invocationId: 'i',
  functionCallId: callId,
  tool: 'pay',
  args: {},
  agent: 'a',
})

test('finds the last request for the same tool, before this one', () => {
  const log = [
    call(1, 'a', 'pay'),
    request(2, 'a'),
    call(3, 'b', 'ship'),
    request(4, 'b'),
    call(5, 'c', 'pay'),
    request(6, 'c'),
    request(7, 'a'),
  ]
  expect(previousIn(log, now('r6', 'c'))).toEqual({ args: { seq: 2 }, createdAt: 2, isSameCall: false })
})

test('says when the same call is asked about again', () => {
  expect(previousIn([call(1, 'a', 'pay'), request(2, 'a'), request(3, 'a')], now('r3', 'a'))?.isSameCall).toBe(true)
})

test('finds none for the first request, nor for another kind of request', () => {
  expect(previousIn([call(1, 'a', 'pay'), request(2, 'a')], now('r2', 'a'))).toBeUndefined()
  expect(
    previousIn([call(1, 'a', 'pay'), request(2, 'a', { kind: 'input' }), request(3, 'a')], now('r3', 'a')),
  ).toBeUndefined()
})
