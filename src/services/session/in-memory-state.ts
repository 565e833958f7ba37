import { copyJson, type JsonObject, setOwn } from '../../core/base/json.ts'
import { isTempKey, scopeOfKey } from '../../core/base/key-scope.ts'
import type { StateReader, StateSize } from './service.ts'
import { sizeOfState } from './state-size.ts'

/** The values of one scope, by their keys with prefix. */
export type Scope = Map<string, unknown>

/** The state of one session: its own keys, and the keys that it shares with the user's other sessions and the app. */
export class ScopedState implements StateReader {
  readonly #app: Scope
  readonly #user: Scope
  #own: Scope | undefined

  constructor(app: Scope, user: Scope) {
    this.#app = app
    this.#user = user
  }

  /** The values of the session's own keys; undefined if it never had one. */
  get own(): Scope | undefined {
    return this.#own
  }

  get(key: string): unknown {
    return this.#existingScope(key)?.get(key)
  }

  /** All keys. */
  *keys(): Iterable<string> {
    yield* this.#app.keys()
    yield* this.#user.keys()
    if (this.#own) yield* this.#own.keys()
  }

  /** Stores the values of a delta without copying them. Null deletes a key. `temp:` keys are skipped. */
  apply(delta: JsonObject): void {
    for (const key of Object.keys(delta)) {
      if (isTempKey(key)) continue
      const value = delta[key]
      if (value === null || value === undefined) this.#existingScope(key)?.delete(key)
      else this.#scopeFor(key).set(key, value)
    }
  }

  /** A copy of all values in one object. */
  toJson(): JsonObject {
    const all: JsonObject = {}
    for (const scope of [this.#app, this.#user, this.#own]) {
      if (!scope?.size) continue
      for (const [key, value] of scope) setOwn(all, key, copyJson(value))
    }
    return all
  }

  #existingScope(key: string): Scope | undefined {
    const scope = scopeOfKey(key)
    if (scope === 'app') return this.#app
    return scope === 'user' ? this.#user : this.#own
  }

  /** The scope of a key. Creates the session's own scope, which many sessions never need. */
  #scopeFor(key: string): Scope {
    const scope = this.#existingScope(key)
    if (scope) return scope
    this.#own = new Map()
    return this.#own
  }
}

/** A copy of the values of a scope. */
export function scopeToJson(scope: Scope | undefined): JsonObject {
  const all: JsonObject = {}
  for (const [key, value] of scope ?? []) setOwn(all, key, copyJson(value))
  return all
}

/** How much state a scope has, without some keys. */
export function sizeOfScope(scope: Scope | undefined, without: ReadonlySet<string>): StateSize {
  let keys = 0
  let bytes = 0
  for (const [key, value] of scope ?? []) {
    if (without.has(key)) continue
    keys++
    bytes += sizeOfState(key, value)
  }
  return { keys, bytes }
}
