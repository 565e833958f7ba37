import { copyJson, type JsonObject, setOwn } from '../base/json.ts'
import { isTempKey, scopeOfKey } from '../base/key-scope.ts'
import { registerShape } from '../base/object-shapes.ts'
import type { StateReader } from './service.ts'

/** One scope's keys, under their prefixes. */
export type Scope = Map<string, unknown>

/** A session's state: its own keys, and those it shares with its user's other sessions and with its whole app. */
export class ScopedState implements StateReader {
  readonly #app: Scope
  readonly #user: Scope
  #own: Scope | undefined

  constructor(app: Scope, user: Scope) {
    this.#app = app
    this.#user = user
  }

  get(key: string): unknown {
    return this.#scopeOf(key)?.get(key)
  }

  *keys(): Iterable<string> {
    yield* this.#app.keys()
    yield* this.#user.keys()
    if (this.#own) yield* this.#own.keys()
  }

  /** Stores a delta's values as given; null deletes, `temp:` keys are left out. */
  apply(delta: JsonObject): void {
    for (const key of Object.keys(delta)) {
      if (isTempKey(key)) continue
      const value = delta[key]
      if (value === null || value === undefined) this.#scopeOf(key)?.delete(key)
      else this.#scopeFor(key).set(key, value)
    }
  }

  /** All of it in one object, copied. */
  toJson(): JsonObject {
    const all: JsonObject = {}
    for (const scope of [this.#app, this.#user, this.#own]) {
      if (!scope?.size) continue
      for (const [key, value] of scope) setOwn(all, key, copyJson(value))
    }
    return all
  }

  #scopeOf(key: string): Scope | undefined {
    const scope = scopeOfKey(key)
    if (scope === 'app') return this.#app
    return scope === 'user' ? this.#user : this.#own
  }

  /** Many sessions never write a key of their own. */
  #scopeFor(key: string): Scope {
    const scope = this.#scopeOf(key)
    if (scope) return scope
    this.#own = new Map()
    return this.#own
  }
}

registerShape(() => new ScopedState(new Map(), new Map()))
