// The conditions of watchers. A missing value is undefined or null. It is no number, so it never crosses a threshold.
import { kindOf } from '../../../core/base/kind-of.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { isSameJson } from './is-same-json.ts'

/** Decides whether a watcher runs for a change. A value is undefined if the key is absent. */
export type WatchCondition = (before: unknown, after: unknown) => boolean

/** Any change, also the first value and the deletion. */
export function changed(): WatchCondition {
  return (before, after) => !isSameJson(before ?? null, after ?? null)
}

/** The value becomes equal to `value`. Objects and lists are equal if all their parts are. */
export function changedTo(value: unknown): WatchCondition {
  const expected = toJsonValue(value).value
  return (before, after) => isSameJson(after ?? null, expected) && !isSameJson(before ?? null, expected)
}

/** The value was equal to `value` and is no longer. */
export function changedFrom(value: unknown): WatchCondition {
  const expected = toJsonValue(value).value
  return (before, after) => isSameJson(before ?? null, expected) && !isSameJson(after ?? null, expected)
}

/** A number below `threshold` becomes a number at or above it. */
export function crossedAbove(threshold: number): WatchCondition {
  checkThreshold('crossedAbove', threshold)
  return (before, after) => isNumber(before) && isNumber(after) && before < threshold && after >= threshold
}

/** A number at or above `threshold` becomes a number below it. */
export function crossedBelow(threshold: number): WatchCondition {
  checkThreshold('crossedBelow', threshold)
  return (before, after) => isNumber(before) && isNumber(after) && before >= threshold && after < threshold
}

/** The value becomes true. Any other value, also a missing one, is not true. */
export function becameTrue(): WatchCondition {
  return (before, after) => before !== true && after === true
}

/** The value was true and is no longer, also because the key was deleted. */
export function becameFalse(): WatchCondition {
  return (before, after) => before === true && after !== true
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function checkThreshold(condition: string, threshold: unknown): void {
  if (Number.isFinite(threshold)) return
  throw new ToolwrightError('INVALID_CONFIG', `${condition}() takes a finite number, got ${kindOf(threshold)}.`)
}
