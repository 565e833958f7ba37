import { closestNames } from '../../../core/base/closest-names.ts'
import { isDerivedKey } from '../../../core/base/key-scope.ts'
import { callback, name, type OptionRules } from '../../../core/error/check-options.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { checkItems, checkUnique, invalidItems, NAMES } from './check-items.ts'
import { computedKeyOf, derivedKey } from './derived-key.ts'

/** A value that is computed from state, and computed again when a key in `from` changes. */
export interface ComputedValue {
  /** The name of the value. State has it as `derived:<key>`. */
  readonly key: string
  /** The state keys that `compute` reads. `derived:<other>` or `<other>` names another computed value. */
  readonly from: readonly string[]
  /** Computes the value from the keys in `from`. Other keys cannot be read. Undefined removes the value. */
  compute(state: ReadonlyState): unknown
}

/** A computed value with the keys whose changes affect it. */
export interface OrderedValue {
  /** The value as the developer defined it. */
  readonly computed: ComputedValue
  /** The keys in `from`, and the `derived:` keys that they may read. */
  readonly dependencies: ReadonlySet<string>
}

const RULES: OptionRules<ComputedValue> = { key: name, from: NAMES, compute: callback }

/** Checks computed values and orders them, so that each follows those it depends on. Throws INVALID_CONFIG. */
export function orderComputed(list: readonly ComputedValue[]): OrderedValue[] {
  checkItems('computed', list, RULES, ['key', 'from', 'compute'])
  checkUnique(
    'Computed value',
    list.map(({ key }) => key),
  )
  const byKey = new Map(list.map((computed) => [computed.key, computed]))
  for (const computed of list) checkKeys(computed, byKey)

  const ordered = new Map<string, OrderedValue>()
  const path: string[] = []
  const visit = (computed: ComputedValue): void => {
    if (ordered.has(computed.key)) return
    if (path.includes(computed.key)) throw cycleError([...path.slice(path.indexOf(computed.key)), computed.key])
    path.push(computed.key)
    const others = computed.from.flatMap((key) => byKey.get(computedKeyOf(key)) ?? [])
    others.forEach(visit)
    path.pop()
    const dependencies = new Set([...computed.from, ...others.map(({ key }) => derivedKey(key))])
    ordered.set(computed.key, { computed, dependencies })
  }
  list.forEach(visit)
  return [...ordered.values()]
}

function checkKeys({ key, from }: ComputedValue, byKey: ReadonlyMap<string, ComputedValue>): void {
  if (key.includes(':'))
    throw invalidItems(`Computed value "${key}": key must not contain ":". State has the value as "derived:<key>".`)
  if (from.length === 0)
    throw invalidItems(`Computed value "${key}": from is empty. List the state keys that compute() reads.`)
  for (const dependency of from) {
    if (computedKeyOf(dependency) === key)
      throw invalidItems(
        `Computed value "${key}" depends on itself: from contains "${dependency}". Give the computed value another key.`,
      )
    checkDerivedKey(`Computed value "${key}": from`, dependency, [...byKey.keys()])
  }
}

/** Throws INVALID_CONFIG if `key` is a `derived:` key without a computed value. It would never have a value. */
export function checkDerivedKey(what: string, key: string, computedKeys: readonly string[]): void {
  if (!isDerivedKey(key) || computedKeys.includes(computedKeyOf(key))) return
  const [meant] = closestNames(computedKeyOf(key), computedKeys)
  const hint = meant === undefined ? 'Add it to computed.' : `Did you mean "${derivedKey(meant)}"?`
  throw invalidItems(`${what} contains "${key}", but no computed value has this key. ${hint}`)
}

function cycleError(keys: readonly string[]): Error {
  const cycle = keys.map((key) => `"${key}"`).join(' -> ')
  return invalidItems(`Computed values depend on each other in a cycle: ${cycle}. Remove one of them from a from list.`)
}
