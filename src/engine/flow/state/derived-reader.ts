import type { StateReader } from '../../../services/session/service.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { computedKeyOf, derivedKey } from './derived-key.ts'
import type { ComputedValue } from './order-computed.ts'

/** Reads computed values, as `derived:total` and as `total`. `state`: the state with them; undefined before it is known. */
export function derivedReader(
  computed: readonly ComputedValue[] | undefined,
  state: () => ReadonlyState | undefined,
): StateReader | undefined {
  if (!computed?.length) return undefined
  const names = new Set(computed.map(({ key }) => key))
  return {
    get: (key) => {
      const name = computedKeyOf(key)
      return names.has(name) ? state()?.get(derivedKey(name)) : undefined
    },
    keys: () => {
      const current = state()
      return [...names].map(derivedKey).filter((key) => current?.has(key))
    },
  }
}
