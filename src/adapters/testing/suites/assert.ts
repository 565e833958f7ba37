// Minimal assertions: the suites run under any test runner, so they cannot use a runner's assertions.
import { canonicalJson } from '../../../core/base/json.ts'
import { messageOf, type ToolwrightErrorCode } from '../../../core/error/error.ts'

/** Throws with the message unless the condition is true. */
export function ok(condition: boolean, message: string): void {
  if (!condition) throw new Error(message)
}

/** Throws unless both are the same value. */
export function equal<T>(actual: T, expected: T, what = 'value'): void {
  if (!Object.is(actual, expected)) throw new Error(`${what}: got ${show(actual)}, expected ${show(expected)}`)
}

/** Throws unless both are the same JSON, in any order of keys. */
export function deepEqual(actual: unknown, expected: unknown, what = 'value'): void {
  if ((actual === undefined) !== (expected === undefined) || canonicalJson(actual) !== canonicalJson(expected)) {
    throw new Error(`${what}: got ${show(actual)}, expected ${show(expected)}`)
  }
}

/** Throws unless the promise rejects with a ToolwrightError of this code. Returns the error message. */
export async function rejectsWith(promise: Promise<unknown>, code: ToolwrightErrorCode): Promise<string> {
  const rejection = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('value' in rejection) throw new Error(`expected ${code}, but it was fulfilled with ${show(rejection.value)}`)
  const { error } = rejection
  if (codeOf(error) !== code) throw new Error(`expected ${code}, but got: ${messageOf(error)}`, { cause: error })
  return messageOf(error)
}

/** The code of a ToolwrightError, also from another copy of the package. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && error.name === 'ToolwrightError' && 'code' in error ? error.code : undefined
}

function show(value: unknown): string {
  const text = value === undefined ? 'undefined' : canonicalJson(value)
  return text.length > 500 ? `${text.slice(0, 500)}…` : text
}
