import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { FailedRecovery } from '../runner-options.ts'
import type { SessionOfApp } from '../work/work-item.ts'
import type { RecoveredRuns, Run } from './run-handle.ts'

/** Makes the result of `recover()`. `failed` is not enumerable: the result is a list of runs. */
export function recoveredRuns(runs: Run[], failed: readonly FailedRecovery[]): RecoveredRuns {
  return Object.defineProperty(runs, 'failed', { value: failed }) as RecoveredRuns // with the property above
}

/** A session that was not continued. */
export function failedSession({ userId, sessionId }: SessionOfApp, error: unknown): FailedRecovery {
  return { type: 'session', userId, sessionId, ...reasonOf(error) }
}

/** A list that could not be read. */
export function failedListing(error: unknown): FailedRecovery {
  return { type: 'expired requests', ...reasonOf(error) }
}

/** The message to the logger. */
export function describeFailure(failed: FailedRecovery, appName: string): string {
  const reason = `${failed.code === undefined ? '' : `${failed.code}: `}${failed.message}`
  if (failed.type === 'expired requests') return `Sessions with expired requests could not be listed: ${reason}`
  const key = `"${failed.sessionId}" of user "${failed.userId}" in app "${appName}"`
  return `Session ${key} could not be recovered: ${reason}`
}

function reasonOf(error: unknown): Pick<FailedRecovery, 'code' | 'message'> {
  return { ...(error instanceof ToolwrightError && { code: error.code }), message: messageOf(error) }
}
