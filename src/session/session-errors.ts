// The errors of a session service, the same in every store.
import { ToolwrightError } from '../error/error.ts'

/** The session does not exist. */
export function sessionNotFound(sessionId: string): ToolwrightError {
  return new ToolwrightError(
    'NOT_FOUND',
    `Session "${sessionId}" does not exist for this user. Check appName, userId and sessionId.`,
  )
}

/** A session with this id exists. */
export function sessionExists(sessionId: string): ToolwrightError {
  return new ToolwrightError(
    'ALREADY_EXISTS',
    `Session "${sessionId}" already exists. Use another sessionId, or run without one.`,
  )
}

/** Another holder has the lease. */
export function sessionBusy(sessionId: string): ToolwrightError {
  return new ToolwrightError(
    'SESSION_BUSY',
    `Session "${sessionId}" is in use: another run holds its lease. Try again when that run has ended.`,
  )
}

/** The lease was released, or another holder has taken it over. */
export function leaseLost(sessionId: string): ToolwrightError {
  const why = 'it was released, or another process has taken it over'
  const message = `The lease on session "${sessionId}" is no longer held: ${why}. Call runner.resume() to continue the run.`
  return new ToolwrightError('LEASE_LOST', message)
}

/** The log has grown since the writer last read it. */
export function staleAppend(expectedSeq: number, seq: number): ToolwrightError {
  return new ToolwrightError(
    'STALE_APPEND',
    `Expected sequence ${expectedSeq}, but the log is at ${seq}: another writer appended first. Read the log again.`,
  )
}
