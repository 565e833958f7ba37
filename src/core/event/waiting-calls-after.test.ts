import { expect, test } from 'vitest'
import fc from '../base/fast-check.test-kit.ts'
import { createEvent, type Event, type NewEntry } from './event.ts'
import { Fold } from './fold.ts'
import { type CallState, openRequests } from './invocation-state.ts'
import { waitingCallsAfter } from './waiting-calls-after.ts'

const id = fc.constantFrom('a', 'b', 'c')
const path = fc.constantFrom('desk', 'desk/helper@a', 'desk/helper@a/inner@b')
const event = (fields: Partial<Event>): NewEntry => ({ event: createEvent({ author: 'desk', ...fields }) })
const entry = fc.oneof(
  fc.tuple(path, fc.uniqueArray(id, { maxLength: 3 })).map(([at, ids]) =>
    event({
      nodeInfo: { path: at },
      turnComplete: true,
      content: { role: 'model', parts: ids.map((callId) => ({ functionCall: { id: callId, name: 'pay', args: {} } })) },
    }),
  ),
  fc.tuple(path, id, fc.boolean()).map(([at, callId, willContinue]) =>
    event({
      nodeInfo: { path: at },
      content: {
        role: 'tool',
        parts: [
          { functionResponse: { id: callId, name: 'pay', response: { ok: 1 }, ...(willContinue && { willContinue }) } },
        ],
      },
    }),
  ),
  fc
    .tuple(
      fc.oneof(
        id,
        id.map((callId) => `r-${callId}`),
        id.map((callId) => `s-${callId}`),
      ),
      fc.boolean(),
    )
    .map(([answered, willContinue]) =>
      event({
        author: 'user',
        content: {
          role: 'user',
          parts: [
            {
              functionResponse: {
                id: answered,
                name: 'x',
                response: { confirmed: true },
                ...(willContinue && { willContinue }),
              },
            },
          ],
        },
      }),
    ),
  fc.tuple(id, path, fc.constantFrom('r', 's'), fc.constantFrom(undefined, 'k')).map(
    ([callId, at, prefix, key]): NewEntry => ({
      record: {
        type: 'request',
        id: `${prefix}-${callId}`,
        callId: callId === 'c' && prefix === 's' ? '_adk_toolset_auth_files' : callId,
        invocationId: 'i',
        path: at,
        kind: 'confirmation',
        origin: 'gate',
        args: {},
        definition: '',
        createdAt: 1,
        ...(key && { key }),
      },
    }),
  ),
  id.map(
    (callId): NewEntry => ({ record: { type: 'denial', invocationId: 'i', requestId: `r-${callId}`, reason: 'late' } }),
  ),
  id.map(
    (callId): NewEntry => ({ record: { type: 'intent', invocationId: 'i', path: 'desk', calls: [{ id: callId }] } }),
  ),
  fc.tuple(id, fc.constantFrom(undefined, 50), fc.boolean()).map(
    ([callId, until, isForEngine]): NewEntry => ({
      record: {
        type: 'background',
        invocationId: 'i',
        path: 'desk',
        calls: [{ id: callId, ...(until !== undefined && { until }), ...(isForEngine && { engine: {} }) }],
      },
    }),
  ),
  fc.tuple(id, fc.constantFrom(60, 70)).map(
    ([callId, until]): NewEntry => ({
      record: { type: 'attempt', invocationId: 'i', callId, id: `a-${until}`, crashes: 0, until },
    }),
  ),
  id.map((callId): NewEntry => ({ record: { type: 'interruption', invocationId: 'i', callId } })),
  fc
    .tuple(path, fc.boolean())
    .map(([at, isError]) =>
      event({ nodeInfo: { path: at }, ...(isError ? { errorCode: 'TIMEOUT' } : { actions: { endOfAgent: true } }) }),
    ),
  path.map((at) => event({ nodeInfo: { path: at }, actions: { transferToAgent: 'other' } })),
)

/** What the list of pending requests shows of the calls. */
const pendingIds = (calls: readonly CallState[]): string[] =>
  calls
    .flatMap((call) => {
      const open = openRequests(call).map(({ request }) => request.id)
      return open.length > 0 ? open : call.pending ? [`${call.id} ${call.background?.until}`] : []
    })
    .sort()

test('the calls that wait after entries are those of the fold that has them, for any log', () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 16 }),
      fc.array(entry, { minLength: 1, maxLength: 5 }),
      (before, added) => {
        const fold = new Fold('i')
        for (const one of before) fold.add(one)
        const unchanged = pendingIds(fold.waitingCalls())
        const predicted = pendingIds(waitingCallsAfter(fold, added))
        expect(pendingIds(fold.waitingCalls())).toEqual(unchanged)
        for (const one of added) fold.add(one)
        expect(predicted).toEqual(pendingIds(fold.waitingCalls()))
      },
    ),
    { numRuns: 5_000 },
  )
}, 60_000)
