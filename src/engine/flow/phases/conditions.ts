// Conditions over state. A key without a prefix also reads the computed value of this name.
import { kindOf } from '../../../core/base/kind-of.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { name } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { readWithDerived } from '../state/derived-key.ts'
import { isSameJson } from '../state/is-same-json.ts'
import type { StateCondition } from '../state/read-condition.ts'

/** The value of the key is exactly true. */
export function isTrue(key: string): StateCondition {
  checkKey('isTrue', key)
  return (state) => readWithDerived(state, key) === true
}

/** The key has a value, also false, 0 or an empty text. */
export function isSet(key: string): StateCondition {
  checkKey('isSet', key)
  return (state) => readWithDerived(state, key) !== undefined
}

/** The value of the key equals `value`. Objects and lists are equal if all their parts are. */
export function equals(key: string, value: unknown): StateCondition {
  checkKey('equals', key)
  const expected = toJsonValue(value).value
  return (state) => isSameJson(readWithDerived(state, key) ?? null, expected)
}

/** The value of the key equals one of `values`. */
export function oneOf(key: string, values: readonly unknown[]): StateCondition {
  checkKey('oneOf', key)
  if (!Array.isArray(values))
    throw new ToolwrightError('INVALID_CONFIG', `oneOf("${key}") takes a list of values, got ${kindOf(values)}.`)
  return any(...values.map((value) => equals(key, value)))
}

/** The condition does not hold. */
export function not(condition: StateCondition): StateCondition {
  checkConditions('not', [condition])
  return (state) => !condition(state)
}

/** All conditions hold. True without conditions. */
export function all(...conditions: readonly StateCondition[]): StateCondition {
  checkConditions('all', conditions)
  return (state) => conditions.every((condition) => condition(state))
}

/** At least one condition holds. False without conditions. */
export function any(...conditions: readonly StateCondition[]): StateCondition {
  checkConditions('any', conditions)
  return (state) => conditions.some((condition) => condition(state))
}

function checkConditions(condition: string, given: readonly unknown[]): void {
  const wrong = given.find((one) => typeof one !== 'function')
  if (given.every((one) => typeof one === 'function')) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${condition}() takes conditions, such as isTrue(key), got ${kindOf(wrong)}. Pass each condition as an argument.`,
  )
}

function checkKey(condition: string, key: unknown): void {
  if (!name.accepts(key))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${condition}() takes a state key that is not empty, got ${kindOf(key)}.`,
    )
}
