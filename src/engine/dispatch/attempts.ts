// The attempts of a call whose policies may run its body again: those that fail are recorded with the response.
import { clip } from '../../core/base/limits.ts'
import { ToolError } from '../../core/error/error.ts'
import { shownMessage } from './hide-credentials.ts'
import type { Batch } from './host.ts'
import type { AttemptsMade, ReadyCall } from './outcome.ts'
import { Timeout } from './wait-with-deadline.ts'

/** Failed attempts that are recorded of one call: the latest ones. */
const MAX_FAILED_ATTEMPTS = 20

/** Characters of the error message of one attempt. */
const MAX_ATTEMPT_MESSAGE = 500

/** Notes that the body starts. Returns how to note that it failed. */
export function startAttempt(
  { host, hooks }: Batch,
  ready: ReadyCall,
  attempts: number | undefined,
): (error: unknown) => void {
  const { ports } = host.services
  const startedAt = ports.now() / 1000
  ready.attempts ??= { count: 0, failed: [] }
  const made: AttemptsMade = ready.attempts
  const attempt = ++made.count
  return (error) => {
    made.failed.push({
      attempt,
      ...(attempts !== undefined && { attempts }),
      ...(hooks.onToolError.length === 0 && { error: clip(shownMessage(ready.context, error), MAX_ATTEMPT_MESSAGE) }),
      errorCode: codeOfThrown(error),
      startedAt,
      endedAt: ports.now() / 1000,
    })
    if (made.failed.length > MAX_FAILED_ATTEMPTS) made.failed.shift()
  }
}

/** The code of what a body has thrown. */
export function codeOfThrown(error: unknown): string {
  if (error instanceof Timeout) return 'TIMEOUT'
  return error instanceof ToolError ? error.code : 'EXECUTION_FAILED'
}
