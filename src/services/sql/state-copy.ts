import { fromJson } from './escaped-text.ts'
import type { StateChange, StateScope } from './state-change.ts'

/** The versions of a session's state. A session's own state has the sequence number of its log; shared state has a counter. */
export type StateVersions = { readonly [scope in StateScope]: number }

/** What became of one scope of state: known changes between two versions, or all values, read at a version. */
export type StateUpdate =
  | {
      readonly type: 'changed'
      readonly copy: StateCopy
      readonly from: number
      readonly to: number
      readonly changes: readonly StateChange[]
    }
  | {
      readonly type: 'read'
      readonly copy: StateCopy
      readonly version: number
      readonly values: readonly (readonly [key: string, value: unknown])[]
    }

/** The values of one scope in the memory of a process. All holders of the process that share the scope share the copy. */
export class StateCopy {
  /** The version of the values; -1 before the first read. */
  version = -1
  #values: ReadonlyMap<string, unknown> = new Map()

  /** The values by key. */
  get values(): ReadonlyMap<string, unknown> {
    return this.#values
  }

  /** Takes an update. One that is older than the copy, or that skips a version, is ignored: the next refresh reads all values. */
  take(update: StateUpdate): void {
    if (update.type === 'read') {
      if (update.version < this.version) return
      this.#values = new Map(update.values)
      this.version = update.version
    } else if (this.version === update.from) {
      this.#values = withChanges(this.#values, update.changes)
      this.version = update.to
    }
  }
}

/** New values: a caller may still iterate over the keys of the old ones. */
function withChanges(
  values: ReadonlyMap<string, unknown>,
  changes: readonly StateChange[],
): ReadonlyMap<string, unknown> {
  if (changes.length === 0) return values
  const changed = new Map(values)
  for (const [key, value] of changes) {
    if (value === null) changed.delete(key)
    else changed.set(key, fromJson(value, `State "${key}"`))
  }
  return changed
}
