// The keys of computed values. State keys without a prefix also read computed values, if nothing is stored under them.
import { DERIVED_PREFIX, isDerivedKey } from '../../../core/base/key-scope.ts'
import type { ReadonlyState } from '../../context/context.ts'

/** The state key of a computed value: `derived:total` for `total`. */
export function derivedKey(key: string): string {
  return `${DERIVED_PREFIX}${key}`
}

/** The key of the computed value that a state key can read: `total` for `derived:total` and `total`. */
export function computedKeyOf(key: string): string {
  return isDerivedKey(key) ? key.slice(DERIVED_PREFIX.length) : key
}

/** Reads a state key, or the computed value of this name if nothing is stored under the key. */
export function readWithDerived(state: ReadonlyState, key: string): unknown {
  return state.get(key) ?? state.get(derivedKey(key))
}

/** The key without the prefix of its scope, as a model should read it. */
export function withoutPrefix(key: string): string {
  return key.replace(/^(derived|user|app|temp):/, '')
}
