// P7: the state is the sum of the deltas in the log, and a delta holds the writes of its calls in call order.
import type { Event, JsonObject } from 'toolwright'
import type { Evidence } from '../evidence.ts'
import { type AuditedLog, canonical, isError } from './log.ts'
import type { Violation } from './violation.ts'

export function* stateFollows({ ledger }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const { session, evidence, calls } of logs) {
    const state = new Map<string, unknown>()
    for (const { event, seq } of evidence.entries) {
      if (!event) continue
      for (const [key, value] of Object.entries(event.actions.stateDelta ?? {})) {
        if (value === null) state.delete(key)
        else state.set(key, value)
      }
      const written = writesOf(event, seq, calls)
      if (written && canonical(written) !== canonical(event.actions.stateDelta ?? {}))
        yield {
          promise: 'P7',
          says: `${session}: event ${event.id} changes ${canonical(event.actions.stateDelta)} and its calls wrote ${canonical(written)}`,
        }
    }
    const own = ([key]: [string, unknown]): boolean => !key.startsWith('user:') // shared with other sessions of the user
    const expected = Object.fromEntries([...state].filter(own))
    const found = Object.fromEntries(Object.entries(evidence.state).filter(own))
    if (canonical(expected) !== canonical(found))
      yield {
        promise: 'P7',
        says: `${session}: the state is ${canonical(found)} and the log gives ${canonical(expected)}`,
      }
  }

  /** The writes of the bodies of a response event. Undefined if the evidence does not show them. */
  function writesOf(
    { content, author, invocationId, errorCode }: Event,
    seq: number,
    calls: AuditedLog['calls'],
  ): JsonObject | undefined {
    if (content?.role !== 'tool' || author === 'user' || errorCode) return undefined
    const written: JsonObject = {}
    for (const { functionResponse } of content.parts) {
      if (!functionResponse) return undefined
      const { response } = functionResponse
      if (isError(response) && !Object.hasOwn(response, 'handle')) continue // with a handle, the body had returned
      const key = `${invocationId}/${functionResponse.id}`
      if (calls.get(key)?.responses[0]?.seq !== seq) continue // stored with its handle
      const ended = ledger.findLast((entry) => entry.key === key && entry.step === 'ended')
      if (functionResponse.response.reconciled === true) continue // no body ran to its end
      Object.assign(written, ended?.writes)
    }
    return written
  }
}
