import { isDeepStrictEqual } from 'node:util'
import { type Evidence, eventsOf } from './evidence.ts'

/** State that is not what the deltas of the log, applied in order, make it. */
export function findWrongState(evidence: Evidence): string[] {
  const { state } = evidence.rows
  const expected = new Map<string, unknown>()
  for (const { actions } of eventsOf(evidence)) {
    for (const [key, value] of Object.entries(actions.stateDelta ?? {})) {
      if (value === null) expected.delete(key)
      else expected.set(key, value)
    }
  }
  const keys = new Set([...state.keys(), ...expected.keys()])
  return [...keys].flatMap((key) => {
    if (isDeepStrictEqual(state.get(key), expected.get(key))) return []
    return [`State "${key}" is ${JSON.stringify(state.get(key))}, not ${JSON.stringify(expected.get(key))}.`]
  })
}
