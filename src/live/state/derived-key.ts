// The keys of computed values. State keys without a prefix also read computed values, if nothing is stored under them.
import type { ReadonlyState } from '../../tool/context.ts'

/** The prefix of computed values. Only computed values have keys with this prefix. */
const DERIVED_PREFIX = 'derived:'

/** The state key of a computed value: `derived:total` for `total`. */
export function derivedKey(key: string): string {
  return `${DERIVED_PREFIX}${key}`
}

/** Is it the state key of a computed value? */
export function isDerivedKey(key: string): boolean {
  return key.startsWith(DERIVED_PREFIX)
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
