// The attempts of a call whose policies may run its body again: those that fail are recorded with the response.
import { setOwn } from '../base/json.ts'
import { clip } from '../base/limits.ts'
import { messageOf, ToolError } from '../error/error.ts'
import type { FailedAttempt, FailedAttempts } from '../event/event.ts'
import type { AttemptsMade } from '../tool/call-context.ts'
import type { Batch } from './host.ts'
import type { CallResult, Outcome, ResolvedCall } from './outcome.ts'
import { Timeout } from './wait-with-deadline.ts'

/** Failed attempts that are recorded of one call: the latest ones. */
const MAX_FAILED_ATTEMPTS = 20

/** Characters of the error message of one attempt. */
const MAX_ATTEMPT_MESSAGE = 500

/** Notes that the body starts. Returns how to note that it failed. */
export function startAttempt(
  { host, hooks }: Batch,
  { context }: ResolvedCall,
  attempts: number | undefined,
): (error: unknown) => void {
  const { now } = host.services.ports
  const startedAt = now() / 1000
  const made: AttemptsMade = context.attempts ?? { count: 0, failed: [] }
  context.attempts = made
  const attempt = ++made.count
  return (error) => {
    made.failed.push({
      attempt,
      ...(attempts !== undefined && { attempts }),
      ...(hooks.onToolError.length === 0 && { error: clip(messageOf(error), MAX_ATTEMPT_MESSAGE) }),
      errorCode: codeOf(error),
      startedAt,
      endedAt: now() / 1000,
    })
    if (made.failed.length > MAX_FAILED_ATTEMPTS) made.failed.shift()
  }
}

/** Adds the failed attempts to the result of a call that had several attempts. */
export function withFailedAttempts({ context: { attempts } }: ResolvedCall, result: CallResult): CallResult {
  return attempts && attempts.count > 1 ? { ...result, failedAttempts: attempts.failed } : result
}

/** The failed attempts of outcomes that are recorded together, by call id; undefined if there are none. */
export function failedAttemptsIn(outcomes: readonly Outcome[]): FailedAttempts | undefined {
  let found: Record<string, readonly FailedAttempt[]> | undefined
  for (const outcome of outcomes) {
    if (outcome.type !== 'result' || !outcome.failedAttempts?.length) continue
    found ??= {}
    setOwn(found, outcome.call.id, outcome.failedAttempts)
  }
  return found
}

function codeOf(error: unknown): string {
  if (error instanceof Timeout) return 'TIMEOUT'
  return error instanceof ToolError ? error.code : 'EXECUTION_FAILED'
}
