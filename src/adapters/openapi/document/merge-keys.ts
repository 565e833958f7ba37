import { isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'

/**
 * Applies the merge keys (`<<`) of YAML. Each map is merged once, also if many aliases use it. Changes and returns the
 * value. Throws an error for a map that merges itself.
 */
export function applyMergeKeys(value: unknown): unknown {
  const seen = new Set<unknown>([value])
  const state: MergeState = { done: new Set(), keys: 0 }
  // The set grows while it is read, so that a value of any depth takes no stack.
  for (const part of seen) {
    if (typeof part !== 'object' || part === null) continue
    if (isRecord(part)) merge(part, state, [])
    for (const inner of Object.values(part)) seen.add(inner)
  }
  return value
}

interface MergeState {
  readonly done: Set<JsonObject>
  /** How many keys have been copied. */
  keys: number
}

/** Merge keys that lead from one map to the next. */
const MAX_CHAIN = 100

/** Keys that are copied for one document. */
const MAX_KEYS = 1_000_000

function merge(map: JsonObject, state: MergeState, open: readonly JsonObject[]): void {
  if (state.done.has(map)) return
  if (open.includes(map) || open.length > MAX_CHAIN) throw new Error('a merge key ("<<") leads back to itself')
  if (!Object.hasOwn(map, '<<')) return
  const sources = [map['<<']].flat()
  if (!sources.every(isRecord)) return
  delete map['<<']
  for (const source of sources) {
    merge(source, state, [...open, map])
    const keys = Object.keys(source)
    state.keys += keys.length
    if (state.keys > MAX_KEYS) throw new Error('merge keys ("<<") copy too much')
    for (const key of keys) if (!Object.hasOwn(map, key)) setOwn(map, key, source[key])
  }
  state.done.add(map)
}
