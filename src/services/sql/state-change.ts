import type { JsonObject } from '../../core/base/json.ts'
import { isTempKey, scopeOfKey } from '../../core/base/key-scope.ts'
import { toJson } from './escaped-text.ts'

/** A state change as columns; null deletes the key. */
export type StateChange = readonly [key: string, value: string | null]

/** The values of the app, of the user, or of one session. */
export type StateScope = 'app' | 'user' | 'session'

/** All scopes, in the order in which state is read. */
export const SCOPES: readonly StateScope[] = ['app', 'user', 'session']

/** Changes by scope, each key once. */
export type ScopedChanges = { readonly [scope in StateScope]: readonly StateChange[] }

/** Encodes a state delta without its `temp:` keys. Throws INVALID_REQUEST for a value that JSON cannot hold. */
export function encodeStateDelta(delta: JsonObject): StateChange[] {
  return Object.keys(delta)
    .filter((key) => !isTempKey(key))
    .map((key) => {
      const value = delta[key]
      return [key, value === null || value === undefined ? null : toJson(value, `State "${key}"`)]
    })
}

/** Splits the changes of several deltas by scope. The last change of a key wins. */
export function byScope(changes: readonly StateChange[]): ScopedChanges {
  const scopes = { app: new Map<string, string | null>(), user: new Map(), session: new Map() }
  for (const [key, value] of changes) scopes[scopeIn(key)].set(key, value)
  return { app: [...scopes.app], user: [...scopes.user], session: [...scopes.session] }
}

/** The scope of a key that is stored. */
export function scopeIn(key: string): StateScope {
  const scope = scopeOfKey(key)
  return scope === 'app' || scope === 'user' ? scope : 'session'
}
