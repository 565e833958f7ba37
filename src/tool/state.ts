import { copyJson, isRecord, type JsonObject, jsonSize, setOwn } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { clip, MAX_NAME_LENGTH, MAX_STATE_DELTA_BYTES } from '../base/limits.ts'
import { registerShape } from '../base/object-shapes.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import { ToolwrightError } from '../error/error.ts'
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
  /** What was written so far, overwritten values included. */
  #bytes = 0
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
    if (typeof key !== 'string')
      throw new ToolwrightError('INVALID_REQUEST', `A state key must be a string, got ${kindOf(key)}.`)
    const plain = toJsonValue(value, MAX_STATE_DELTA_BYTES)
    const { bytes } = plain
    this.#bytes += bytes + key.length
    if (this.#bytes > MAX_STATE_DELTA_BYTES)
      this.#bytes = checkDelta({ ...this.#delta, [key]: plain.value }, key, bytes)
    this.#delta ??= {}
    setOwn(this.#delta, key, plain.value)
  }
  delete(key: string): void {
    this.set(key, null)
  }
  /** What was written so far; undefined when nothing was. */
  get written(): Readonly<JsonObject> | undefined {
    return this.#delta
  }
  /** Takes one write back. */
  undoSet(key: string): void {
    if (!this.#delta || !Object.hasOwn(this.#delta, key)) return
    delete this.#delta[key]
    if (Object.keys(this.#delta).length === 0) this.takeDelta()
  }
  /** Hands the writes over; whoever writes later writes into nothing. */
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

/** The size of what one event writes; throws when it is too large. `key` and `bytes`: what was written last. */
function checkDelta(delta: JsonObject, key: string, bytes: number): number {
  const size = Math.max(jsonSize(delta, MAX_STATE_DELTA_BYTES), bytes)
  if (size <= MAX_STATE_DELTA_BYTES) return size
  throw stateTooLarge(`state.set("${clip(key, MAX_NAME_LENGTH)}") with ${bytes} bytes`)
}

/** A `stateDelta` that was not written key by key, as it is recorded. */
export function toStateDelta(delta: unknown): JsonObject {
  const { value, bytes } = toJsonValue(delta, MAX_STATE_DELTA_BYTES)
  if (bytes > MAX_STATE_DELTA_BYTES) throw stateTooLarge(`A stateDelta of ${bytes} bytes`)
  if (isRecord(value)) return value
  throw new ToolwrightError('INVALID_REQUEST', 'A stateDelta could not be read: a getter or a proxy in it throws.')
}

function stateTooLarge(what: string): ToolwrightError {
  const instead = 'Save large values as artifacts and keep their names in state.'
  return new ToolwrightError('TOO_LARGE', `${what}: one event may write ${MAX_STATE_DELTA_BYTES} bytes. ${instead}`)
}

registerShape(() => new WritableState({} as StateReader))
