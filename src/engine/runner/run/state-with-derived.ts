import { isDerivedKey } from '../../../core/base/key-scope.ts'
import type { StateReader } from '../../../services/session/service.ts'
import type { RecordedState } from './recorded-run.ts'

/** The state of a run with computed values, which are not stored. Tools, callbacks, instructions and agent tools read it. */
export class StateWithDerived implements RecordedState {
  readonly #recorded: RecordedState
  readonly #derived: StateReader

  constructor(recorded: RecordedState, derived: StateReader) {
    this.#recorded = recorded
    this.#derived = derived
  }

  /** A stored value comes before the computed value of its name, unless the key says `derived:`. */
  get(key: string): unknown {
    if (isDerivedKey(key)) return this.#derived.get(key)
    return this.#recorded.get(key) ?? this.#derived.get(key)
  }
  keys(): string[] {
    return [...new Set([...this.#recorded.keys(), ...this.#derived.keys()])]
  }
  setTemp(key: string, value: unknown): void {
    this.#recorded.setTemp(key, value)
  }
}
