import { copyJson, type JsonObject, setOwn } from '../base/json.ts'
import { keepShape } from '../base/keep-shape.ts'
import { toPlain } from '../base/plain.ts'
import type { StateReader } from '../session/service.ts'
import type { ReadonlyState, State } from './context.ts'

/** State for those who only look. */
export function readonlyState(stored: StateReader): ReadonlyState {
  return {
    get: <T>(key: string, fallback?: T) => {
      const value = stored.get(key)
      return (value === undefined ? fallback : copyJson(value)) as T
    },
    has: (key) => stored.get(key) !== undefined,
    keys: () => [...stored.keys()],
  }
}

/** State with one call's own writes in front of it; the writes are what becomes the event's `stateDelta`. */
export class WritableState implements State {
  readonly #stored: StateReader
  #delta: JsonObject | undefined
  constructor(stored: StateReader) {
    this.#stored = stored
  }
  get<T>(key: string, fallback?: T): T {
    const value = this.#read(key)
    return (value === undefined ? fallback : copyJson(value)) as T
  }
  has(key: string): boolean {
    return this.#read(key) !== undefined
  }
  keys(): string[] {
    const keys = new Set(this.#stored.keys())
    for (const key of Object.keys(this.#delta ?? {})) {
      if (this.#read(key) === undefined) keys.delete(key)
      else keys.add(key)
    }
    return [...keys]
  }
  set(key: string, value: unknown): void {
    this.#delta ??= {}
    setOwn(this.#delta, key, toPlain(value).value)
  }
  delete(key: string): void {
    this.set(key, null)
  }
  /** Hands the writes over; whoever writes later writes into nothing. */
  take(): JsonObject | undefined {
    const delta = this.#delta
    this.#delta = undefined
    return delta
  }
  #read(key: string): unknown {
    if (this.#delta && Object.hasOwn(this.#delta, key)) return this.#delta[key] ?? undefined
    return this.#stored.get(key)
  }
}

keepShape(() => new WritableState({} as StateReader))
