// Small on purpose: the suites run under any test runner, so they bring their own.
import { canonicalJson } from '../../base/json.ts'
import { messageOf, type ToolwrightErrorCode } from '../../error/error.ts'

/** Fails unless the claim holds. */
export function ok(claim: boolean, message: string): void {
  if (!claim) throw new Error(message)
}

/** Fails unless both are the same value. */
export function equal<T>(actual: T, expected: T, what = 'value'): void {
  if (!Object.is(actual, expected)) throw new Error(`${what}: got ${show(actual)}, expected ${show(expected)}`)
}

/** Fails unless both are the same JSON, whatever the order of keys. */
export function deepEqual(actual: unknown, expected: unknown, what = 'value'): void {
  if ((actual === undefined) !== (expected === undefined) || canonicalJson(actual) !== canonicalJson(expected)) {
    throw new Error(`${what}: got ${show(actual)}, expected ${show(expected)}`)
  }
}

/** Fails unless the promise is rejected with a ToolwrightError of this code; gives its message. */
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

/** The code of a ToolwrightError, also of one from another copy of the package. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && error.name === 'ToolwrightError' && 'code' in error ? error.code : undefined
}

function show(value: unknown): string {
  const text = value === undefined ? 'undefined' : canonicalJson(value)
  return text.length > 500 ? `${text.slice(0, 500)}…` : text
}
