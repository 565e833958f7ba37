// What a failure may say. Errors of stores, exchangers and HTTP clients can quote a secret: only their kind is shown.
import { clip } from '../../core/base/limits.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { AuthError } from './auth-error.ts'
import type { AuthServices } from './auth-services.ts'

const MAX_KEY_LENGTH = 120

/** The text of a failure, without secrets: the message of our own errors, the name of any other error. */
export function failureText(thrown: unknown): string {
  if (thrown instanceof AuthError || thrown instanceof ToolwrightError) return withFullStop(thrown.message)
  return `${nameOf(thrown)} was thrown. Its message is not shown, because it may contain a secret.`
}

/** A key, quoted for a message. */
export function quoteKey(key: string): string {
  return JSON.stringify(clip(key, MAX_KEY_LENGTH))
}

/** Tells the operator about a problem. A callback that throws changes nothing. */
export function reportProblem(services: Pick<AuthServices, 'report'>, problem: string): void {
  try {
    services.report?.(problem)
  } catch {
    // The credential matters more than the line about it.
  }
}

const reported = new WeakSet<object>()

/** Tells the operator about an error. Calls that share one failed request share its error: it is reported once. */
export function reportFailure(services: Pick<AuthServices, 'report'>, problem: string, error: unknown): void {
  if (typeof error === 'object' && error !== null) {
    if (reported.has(error)) return
    reported.add(error)
  }
  reportProblem(services, problem)
}

function nameOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error && /^[A-Za-z]{1,60}$/.test(thrown.name)) return thrown.name
  } catch {
    return 'An error that cannot be read'
  }
  return `A value of type ${typeof thrown}`
}

function withFullStop(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`
}
