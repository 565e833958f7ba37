// readLog() on logs of every kind: what it says does not depend on how the log is read.

import { createEvent, type Event, LogReader, readLog } from 'toolwright'
import type { Entry } from 'toolwright/store'
import { expect, test } from 'vitest'
import fc from '../../src/core/base/fast-check.test-kit.ts'
import { eventsOf, malformedLogs } from './history-malformed-logs.ts'

const id = fc.constantFrom('a', 'b', 'c', '', '1', '__proto__')
const path = fc.constantFrom(undefined, 'desk', 'desk/helper@a', 'desk/helper@a/code@b/call@1')
const response = fc.constantFrom(
  { ok: 1 },
  { error: 'no' },
  { confirmed: true },
  { declined: true },
  { status: 'failed' },
)
const part = fc.oneof(
  id.map((callId) => ({ functionCall: { id: callId, name: 'pay', args: { n: 1 } } })),
  fc.constant({ functionCall: {} }),
  id.map((callId) => ({ executableCode: { id: callId, language: 'js', code: '1' } })),
  id.map((callId) => ({ codeExecutionResult: { id: callId, outcome: 'OUTCOME_OK' } })),
  fc.tuple(id, response, fc.boolean()).map(([callId, given, willContinue]) => ({
    functionResponse: { id: callId, name: 'pay', response: given, willContinue },
  })),
  fc
    .tuple(id, response)
    .map(([callId, given]) => ({ functionResponse: { id: `r-${callId}`, name: 'x', response: given } })),
  id.map((callId) => ({ functionCall: { id: `r-${callId}`, name: 'adk_request_confirmation', args: {} } })),
  fc.constant({ text: 'hi' }),
)
const event = fc
  .record({
    author: fc.constantFrom('user', 'desk', 'helper'),
    role: fc.constantFrom('user', 'model', 'tool'),
    parts: fc.array(part, { maxLength: 3 }),
    at: path,
    turnComplete: fc.boolean(),
    isLong: fc.boolean(),
    errorCode: fc.constantFrom(undefined, undefined, undefined, 'CANCELLED', 'MODEL_ERROR'),
    transferToAgent: fc.constantFrom(undefined, undefined, 'helper'),
    invocationId: fc.constantFrom('i1', 'i2'),
  })
  .map(({ role, parts, at, isLong, errorCode, transferToAgent, ...fields }) => ({
    event: {
      ...createEvent(fields),
      content: { role, parts },
      actions: transferToAgent ? { transferToAgent } : {},
      ...(at && { nodeInfo: { path: at } }),
      ...(errorCode && { errorCode }),
      ...(isLong && { longRunningToolIds: ['a', 'r-a'] }),
    } as unknown as Event,
  }))
const record = fc.oneof(
  fc
    .tuple(id, fc.constantFrom('gate', 'body'), fc.constantFrom('confirmation', 'credential', 'input'))
    .map(([callId, origin, kind]) => ({
      record: {
        type: 'request',
        id: `r-${callId}`,
        callId,
        kind,
        origin,
        path: 'desk',
        args: {},
        createdAt: 1,
        invocationId: 'i1',
      },
    })),
  id.map((callId) => ({ record: { type: 'intent', invocationId: 'i1', path: 'desk', calls: [{ id: callId }] } })),
  id.map((callId) => ({ record: { type: 'denial', invocationId: 'i1', requestId: `r-${callId}`, reason: 'late' } })),
)
const log = fc
  .array(fc.oneof(event, record), { maxLength: 25 })
  .map(
    (items) =>
      items.map((item, at) =>
        'event' in item
          ? { seq: at + 1, event: { ...item.event, id: `e${at}`, timestamp: at } }
          : { seq: at + 1, ...item },
      ) as Entry[],
  )

const json = (reader: LogReader): unknown => JSON.parse(JSON.stringify(reader.invocations()))

test('readLog() says the same entry by entry as at once, for any log', () => {
  fc.assert(
    fc.property(log, (entries) => {
      const reader = new LogReader()
      for (const entry of entries) {
        reader.add(entry)
        reader.invocations() // what was computed before stays right
      }
      expect(json(reader)).toEqual(json(readLog(entries)))
      for (const { id, calls } of reader.invocations()) {
        expect(reader.invocation(id)?.calls).toBe(calls)
        for (const { madeAt, endedAt } of calls)
          if (endedAt !== undefined) expect(endedAt).toBeGreaterThanOrEqual(madeAt)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('readLog() reads any part of any log', () => {
  fc.assert(
    fc.property(log, fc.nat(24), fc.nat(24), (entries, from, length) => {
      expect(() => readLog(entries.slice(from, from + length)).invocations()).not.toThrow()
    }),
    { numRuns: 1_000 },
  )
})

test.each(malformedLogs)('readLog() reads %s', (_name, lines) => {
  const events = eventsOf(lines, undefined).map((one) => ({ event: one }))
  expect(readLog(events).invocations().length).toBeGreaterThan(0)
})
