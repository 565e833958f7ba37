import { keepShape } from '../../base/keep-shape.ts'
import type { StateReader } from '../../session/service.ts'

/** Stored state, and the `temp:` values that live as long as the run. */
export class RunState implements StateReader {
  readonly #stored: StateReader
  #temp: Map<string, unknown> | undefined
  constructor(stored: StateReader) {
    this.#stored = stored
  }
  get(key: string): unknown {
    return key.startsWith('temp:') ? this.#temp?.get(key) : this.#stored.get(key)
  }
  keys(): string[] {
    return [...this.#stored.keys(), ...(this.#temp?.keys() ?? [])]
  }
  setTemp(key: string, value: unknown): void {
    this.#temp ??= new Map()
    if (value === null || value === undefined) this.#temp.delete(key)
    else this.#temp.set(key, value)
  }
}

keepShape(() => new RunState({} as StateReader))
