import { copyJson, type JsonObject } from '../../../core/base/json.ts'
import { isDerivedKey } from '../../../core/base/key-scope.ts'
import type { StateReader } from '../../../services/session/service.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { readonlyState } from '../../context/state.ts'
import { ComputedValues } from './computed-values.ts'
import { isSameJson } from './is-same-json.ts'
import type { ComputedValue } from './order-computed.ts'
import { readCondition } from './read-condition.ts'
import type { ReportProblem } from './report-problem.ts'
import type { WatchedSession } from './watched-session.ts'
import { checkWatchers, type Watcher, type WatcherCall } from './watcher.ts'

/** Options of a `StateMirror`. */
interface StateMirrorOptions<S = WatchedSession> {
  /** The computed values. Default none. */
  readonly computed?: readonly ComputedValue[] | undefined
  /** The watchers. Default none. */
  readonly watchers?: readonly Watcher<S>[] | undefined
  /** The stored state when the session starts: a `ReadonlyState` or a map. Copied. Default empty. */
  readonly initial?: StateReader | undefined
  /** Gets the problems in conditions and computed values. */
  readonly report: ReportProblem
}

/**
 * The state of a live session with its computed values. It follows the recorded state deltas one by one, so that watchers
 * also see changes of tools, and values that change and change back within a turn.
 */
export class StateMirror<S = WatchedSession> {
  /**
   * The stored keys and the `derived:` keys. A key without a prefix reads the computed value of this name if nothing is
   * stored under it.
   */
  readonly state: ReadonlyState
  readonly #stored = new Map<string, unknown>()
  readonly #values: ComputedValues
  readonly #watchers: readonly Watcher<S>[]
  readonly #report: ReportProblem

  /** Computes all values. No watcher runs for initial values. Throws INVALID_CONFIG if the definitions are wrong. */
  constructor({ computed = [], watchers = [], initial, report }: StateMirrorOptions<S>) {
    for (const key of initial?.keys() ?? []) this.#store(key, initial?.get(key))
    this.#values = new ComputedValues(computed, this.#stored, report)
    checkWatchers(
      watchers,
      computed.map(({ key }) => key),
    )
    this.#watchers = [...watchers]
    this.#report = report
    this.state = readonlyState(this.#values)
  }
  /**
   * Applies one recorded state delta, in which null deletes a key. Returns the watchers to run, in the order of their list.
   * A delta that changes no value runs none.
   */
  apply(delta: Readonly<JsonObject>): WatcherCall<S>[] {
    const changed = Object.keys(delta).filter((key) => this.#isChange(key, delta[key]))
    if (changed.length === 0) return []
    const before = new Map(this.#watchers.map(({ key }) => [key, this.#values.get(key)]))
    for (const key of changed) this.#store(key, delta[key])
    this.#values.update(changed)
    return this.#watchers.flatMap((watcher) => this.#callsOf(watcher, before.get(watcher.key)))
  }
  #isChange(key: string, value: unknown): boolean {
    if (!isDerivedKey(key)) return !isSameJson(this.#stored.get(key), value ?? undefined)
    this.#report(
      `State key "${key}" was written. Computed values are read only, so the write has no effect here.`,
      undefined,
    )
    return false
  }
  #store(key: string, value: unknown): void {
    if (isDerivedKey(key)) return
    if (value === undefined || value === null) this.#stored.delete(key)
    else this.#stored.set(key, copyJson(value))
  }
  #callsOf(watcher: Watcher<S>, valueBefore: unknown): WatcherCall<S>[] {
    const valueAfter = this.#values.get(watcher.key)
    if (isSameJson(valueBefore, valueAfter)) return []
    const before = copyJson(valueBefore)
    const after = copyJson(valueAfter)
    const holds = readCondition(
      `"on" of the watcher of "${watcher.key}"`,
      () => watcher.on(before, after),
      this.#report,
    )
    return holds ? [{ watcher, before, after }] : []
  }
}
