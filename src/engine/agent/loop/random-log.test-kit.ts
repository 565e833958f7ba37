// Random logs: entries that a run may write, and some that only other programs or damaged runs write.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { Entry, Event, NewEntry } from '../../../core/event/event.ts'

export type Random = () => number

/** Numbers from 0 to 1 that depend on the seed only. */
export function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const CALL_IDS: readonly string[] = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', '_adk_toolset_auth_mail']
export const REQUEST_IDS: readonly string[] = ['r1', 'r2', 'r3', 'r4']
export const SCOPES: readonly Pick<Event, 'nodeInfo' | 'branch' | 'isolationScope' | 'author'>[] = [
  { author: 'root', nodeInfo: { path: 'root' } },
  { author: 'clerk', nodeInfo: { path: 'root' } },
  { author: 'left', nodeInfo: { path: 'root/flow@t1/beside@1/left@1' }, branch: 'beside.left' },
  { author: 'round', nodeInfo: { path: 'root/flow@t1/again@1/round@2' } },
  { author: 'inner', nodeInfo: { path: 'root/inner@c1' }, isolationScope: 'root/inner@c1' },
  { author: 'root', nodeInfo: { path: 'root/code@c2/call@1' }, isolationScope: 'root/code@c2' },
]

/** A log with this many entries. */
export function randomLog(random: Random, length: number): Entry[] {
  const entries: Entry[] = []
  let invocations = 1
  for (let seq = 1; seq <= length; seq++) {
    if (random() < 0.12) invocations++
    const back = random() < 0.2 ? Math.floor(random() * invocations) : 0
    entries.push({ seq, ...randomEntry(random, `e${invocations - back}`, seq) } as Entry)
  }
  return entries
}

function randomEntry(random: Random, invocationId: string, seq: number): NewEntry {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const chance = (share: number): boolean => random() < share
  const callId = pick(CALL_IDS)
  const base = { id: `event-${seq}`, invocationId, timestamp: seq, actions: {} }
  const user = (parts: Part[]): NewEntry => ({ event: { ...base, author: 'user', content: { role: 'user', parts } } })
  const scope = pick(SCOPES)
  const ofAgent = (more: Partial<Event>): NewEntry => ({ event: { ...base, ...scope, ...more } })
  const path = scope.nodeInfo?.path ?? ''
  const call = (id: string): Part => ({ functionCall: { id, name: pick(['look', 'job']), args: { n: pick([1, 2]) } } })
  const response = (id: string, result: JsonObject): Part => ({
    functionResponse: { id, name: 'look', response: result, ...(chance(0.3) && { willContinue: true }) },
  })
  const result = (): JsonObject => pick<JsonObject>([{ ok: true }, { error: 'no' }, { error: 'no', status: 'not_run' }])
  const kinds: (() => NewEntry)[] = [
    () => user([{ text: 'Hi' }, ...(chance(0.1) ? [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] : [])]),
    () => user([response(pick(REQUEST_IDS), { confirmed: chance(0.5) })]),
    () => user([response(callId, result())]),
    () => ({ event: { ...base, author: 'user', actions: { stateDelta: { a: seq } } } }),
    () => ofAgent({ content: { role: 'model', parts: [{ text: 'So.' }] }, turnComplete: true }),
    () => {
      const parts = [call(callId), ...(chance(0.4) ? [call(pick(CALL_IDS))] : [])]
      return ofAgent({ content: { role: 'model', parts }, turnComplete: true, ...(chance(0.2) && { live: true }) })
    },
    () =>
      ofAgent({
        content: { role: 'model', parts: [{ executableCode: { id: callId, language: 'PYTHON', code: '1' } }] },
      }),
    () => ofAgent({ content: { role: 'model', parts: [call(pick(REQUEST_IDS))] }, longRunningToolIds: REQUEST_IDS }),
    () => ofAgent({ content: { role: 'tool', parts: [response(callId, result())] } }),
    () => {
      const actions = pick([{ transferToAgent: 'clerk' }, { escalate: true }, { skipSummarization: true }])
      return ofAgent({ content: { role: 'tool', parts: [response(callId, result())] }, actions })
    },
    () => ofAgent({ content: { role: 'tool', parts: [] }, groundingMetadata: { chunk: seq } }),
    () => ofAgent({ content: { role: 'user', parts: [{ text: 'Answer as JSON.' }] } }),
    () => ofAgent({ errorCode: pick(['MODEL_ERROR', 'TIMEOUT']), errorMessage: 'failed' }),
    () => ofAgent({ actions: { endOfAgent: true } }),
    () => ({ event: { ...base, author: 'other', content: { role: 'model', parts: [call('x1')] } } }),
    () => ({ record: { type: 'intent', invocationId, path, calls: [{ id: callId }] } }),
    () => {
      const [kind, origin] = pick([['confirmation', 'gate'] as const, ['input', 'body'] as const])
      const id = pick(REQUEST_IDS)
      return {
        record: {
          type: 'request',
          invocationId,
          path,
          id,
          callId,
          kind,
          origin,
          args: {},
          definition: '',
          createdAt: seq,
        },
      }
    },
    () => ({ record: { type: 'denial', invocationId, requestId: pick(REQUEST_IDS), reason: 'expired' } }),
    () => ({ record: { type: 'phase', invocationId, phase: pick(['greet', 'pay']) } as never }),
  ]
  return pick(kinds)()
}
