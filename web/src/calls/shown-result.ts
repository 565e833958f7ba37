import type { JsonObject } from '../../../src/core/base/json.ts'

/**
 * A response as it is shown: without the error that is shown beside it, and a value that was wrapped as `{ result }` by itself. Undefined if
 * nothing is left.
 */
export function shownResult(response: JsonObject, hasError: boolean): unknown {
  const { error, errorCode, status, ...others } = response
  const shown = hasError ? others : response
  const keys = Object.keys(shown)
  if (hasError && keys.length === 0) return undefined
  return keys.length === 1 && 'result' in shown ? shown.result : shown
}
