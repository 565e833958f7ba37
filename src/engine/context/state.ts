import { copyJson, isRecord, type JsonObject, jsonSize, setOwn } from '../../core/base/json.ts'
import { isDerivedKey } from '../../core/base/key-scope.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { clip, MAX_NAME_LENGTH, MAX_STATE_DELTA_BYTES } from '../../core/base/limits.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { StateReader } from '../../services/session/service.ts'
import type { ReadonlyState, State } from './context.ts'

/** Creates the state of a `ReadonlyContext`. */
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

/** The stored state with the writes of one context on top. The writes become the `stateDelta` of the next event. */
export class WritableState implements State {
  readonly #stored: StateReader
  #delta: JsonObject | undefined
  /** Bytes of all writes, including overwritten values. An upper bound of the size of the delta. */
  #bytes = 0
  constructor(stored: StateReader) {
    this.#stored = stored
  }
  /** Returns a copy of the value, or the fallback if the key is absent. */
  get<T>(key: string, fallback?: T): T {
    const value = this.#read(key)
    return (value === undefined ? fallback : copyJson(value)) as T
  }
  /** Is there a value for the key? */
  has(key: string): boolean {
    return this.#read(key) !== undefined
  }
  /** Lists all keys. */
  keys(): string[] {
    const keys = new Set(this.#stored.keys())
    for (const key of Object.keys(this.#delta ?? {})) {
      if (this.#read(key) === undefined) keys.delete(key)
      else keys.add(key)
    }
    return [...keys]
  }
  /** Sets a value. Throws TOO_LARGE if the writes of one event become too large. */
  set(key: string, value: unknown): void {
    if (typeof key !== 'string')
      throw new ToolwrightError('INVALID_REQUEST', `A state key must be a string, got ${kindOf(key)}.`)
    if (isDerivedKey(key)) throw computedKey(key)
    const plain = toJsonValue(value, MAX_STATE_DELTA_BYTES)
    const { bytes } = plain
    this.#bytes += bytes + key.length
    if (this.#bytes > MAX_STATE_DELTA_BYTES)
      this.#bytes = checkDelta({ ...this.#delta, [key]: plain.value }, key, bytes)
    this.#delta ??= {}
    setOwn(this.#delta, key, plain.value)
  }
  /** Adds the writes of another context, or of a message. `derived:` keys are left out: nothing reads them from the store. */
  add(delta: JsonObject): void {
    for (const key of Object.keys(delta)) if (!isDerivedKey(key)) this.set(key, delta[key])
  }
  /** Deletes a key. In a delta, null deletes the key. */
  delete(key: string): void {
    this.set(key, null)
  }
  /** The writes of this context. Undefined if there are none. */
  get written(): Readonly<JsonObject> | undefined {
    return this.#delta
  }
  /** Undoes the writes to one key. */
  undoSet(key: string): void {
    if (!this.#delta || !Object.hasOwn(this.#delta, key)) return
    delete this.#delta[key]
    if (Object.keys(this.#delta).length === 0) this.takeDelta()
  }
  /** Returns the writes and clears them. Undefined if there are none. */
  takeDelta(): JsonObject | undefined {
    const delta = this.#delta
    this.#delta = undefined
    this.#bytes = 0
    return delta
  }
  #read(key: string): unknown {
    if (this.#delta && Object.hasOwn(this.#delta, key)) return this.#delta[key] ?? undefined
    return this.#stored.get(key)
  }
}

/**
 * Returns the size of a delta. Throws if the delta is too large. `key` and `bytes` describe the latest write, for the
 * error.
 */
function checkDelta(delta: JsonObject, key: string, bytes: number): number {
  const size = Math.max(jsonSize(delta, MAX_STATE_DELTA_BYTES), bytes)
  if (size <= MAX_STATE_DELTA_BYTES) return size
  throw stateTooLarge(`state.set("${clip(key, MAX_NAME_LENGTH)}") with ${bytes} bytes`)
}

function computedKey(key: string): ToolwrightError {
  const problem = `State key "${clip(key, MAX_NAME_LENGTH)}" cannot be written: the prefix "derived:" is for computed values`
  return new ToolwrightError('INVALID_REQUEST', `${problem}. Write the keys that the value is computed from.`)
}

/** Converts a whole `stateDelta` to JSON. Throws if it is too large or cannot be read. */
export function toStateDelta(delta: unknown): JsonObject {
  const { value, bytes } = toJsonValue(delta, MAX_STATE_DELTA_BYTES)
  if (bytes > MAX_STATE_DELTA_BYTES) throw stateTooLarge(`A stateDelta of ${bytes} bytes`)
  if (isRecord(value)) return value
  throw new ToolwrightError(
    'INVALID_REQUEST',
    'A stateDelta cannot be read: a getter or a proxy in it throws. Pass a plain object.',
  )
}

function stateTooLarge(what: string): ToolwrightError {
  const instead = 'Save large values as artifacts and keep their names in state.'
  return new ToolwrightError(
    'TOO_LARGE',
    `${what} is too large: one event may write at most ${MAX_STATE_DELTA_BYTES} bytes. ${instead}`,
  )
}
