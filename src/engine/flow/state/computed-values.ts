import { isDerivedKey } from '../../../core/base/key-scope.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import type { StateReader } from '../../../services/session/service.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { readonlyState } from '../../context/state.ts'
import { computedKeyOf, derivedKey } from './derived-key.ts'
import { isSameJson } from './is-same-json.ts'
import { type ComputedValue, type OrderedValue, orderComputed } from './order-computed.ts'
import { refusePromise } from './refuse-promise.ts'
import type { ReportProblem } from './report-problem.ts'

/** Computed values over stored state. After a change, only the affected values are computed again. */
export class ComputedValues implements StateReader {
  readonly #stored: StateReader
  readonly #report: ReportProblem
  readonly #ordered: readonly (OrderedValue & { readonly view: ReadonlyState })[]
  readonly #values = new Map<string, unknown>()

  /** Computes all values. Throws INVALID_CONFIG if the definitions are wrong. */
  constructor(list: readonly ComputedValue[], stored: StateReader, report: ReportProblem) {
    this.#stored = stored
    this.#report = report
    this.#ordered = orderComputed(list).map((value) => ({ ...value, view: this.#viewOf(value) }))
    for (const value of this.#ordered) this.#compute(value)
  }
  /** The stored value, or the computed value of this name if nothing is stored. Not a copy. */
  get(key: string): unknown {
    const stored = isDerivedKey(key) ? undefined : this.#stored.get(key)
    return stored === undefined ? this.#values.get(computedKeyOf(key)) : stored
  }
  /** The stored keys, and the `derived:` keys of the computed values. */
  keys(): string[] {
    return [...this.#stored.keys(), ...[...this.#values.keys()].map(derivedKey)]
  }
  /** Computes the values that are affected by a change of these stored keys. */
  update(changedKeys: Iterable<string>): void {
    const changed = new Set(changedKeys)
    for (const value of this.#ordered) {
      const isAffected = [...value.dependencies].some((key) => changed.has(key))
      if (isAffected && this.#compute(value)) changed.add(derivedKey(value.computed.key))
    }
  }
  /** Computes one value. Returns whether it has changed. */
  #compute({ computed, view }: { readonly computed: ComputedValue; readonly view: ReadonlyState }): boolean {
    const { key } = computed
    const value = this.#call(computed, view)
    if (isSameJson(value, this.#values.get(key))) return false
    if (value === undefined) this.#values.delete(key)
    else this.#values.set(key, value)
    return true
  }
  #call(computed: ComputedValue, view: ReadonlyState): unknown {
    try {
      const value = computed.compute(view)
      refusePromise(value)
      return toJsonValue(value).value ?? undefined
    } catch (error) {
      this.#report(`The compute() of computed value "${computed.key}" failed. The value is removed.`, error)
      return undefined
    }
  }
  /** The state that one `compute` may read. A read of any other key throws: its changes would not be noticed. */
  #viewOf({ computed, dependencies }: OrderedValue): ReadonlyState {
    return readonlyState({
      get: (key) => {
        // `derived:x` is also allowed for `x`: the conditions such as isSet('x') read both
        if (dependencies.has(key) || (isDerivedKey(key) && dependencies.has(computedKeyOf(key)))) return this.get(key)
        throw new Error(`Computed value "${computed.key}" reads "${key}", which is not in its from list. Add it there.`)
      },
      keys: () => [...dependencies].filter((key) => this.get(key) !== undefined),
    })
  }
}
