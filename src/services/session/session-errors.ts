// The errors of a session service, the same in every store.
import { ToolwrightError } from '../../core/error/error.ts'

/** The error for a session that does not exist. */
export function sessionNotFound(sessionId: string): ToolwrightError {
  return new ToolwrightError(
    'NOT_FOUND',
    `Session "${sessionId}" does not exist for this user. Check appName, userId and sessionId.`,
  )
}

/** The error for a new session whose id is taken. */
export function sessionExists(sessionId: string): ToolwrightError {
  return new ToolwrightError(
    'ALREADY_EXISTS',
    `Session "${sessionId}" already exists. Use another sessionId, or run without one.`,
  )
}

/** The error for a session whose lease another holder has. */
export function sessionBusy(sessionId: string): ToolwrightError {
  return new ToolwrightError(
    'SESSION_BUSY',
    `Session "${sessionId}" is in use: another run holds its lease. Try again when that run has ended, or, if its process died, when the lease has expired.`,
  )
}

/** The error for a lease that was released or that another holder has taken over. */
export function leaseLost(sessionId: string): ToolwrightError {
  const why = 'it was released, or another process has taken it over'
  const message = `The lease on session "${sessionId}" is no longer held: ${why}. Call runner.resume() to continue the run.`
  return new ToolwrightError('LEASE_LOST', message)
}

/** The error for a lease on a session that was deleted. */
export function sessionGone(sessionId: string): ToolwrightError {
  return new ToolwrightError(
    'SESSION_GONE',
    `Session "${sessionId}" was deleted, so the run cannot record anything more. Start a run in a new session.`,
  )
}

/** The error for an append to a log that has grown since the writer last read it. */
export function staleAppend(expectedSeq: number, seq: number): ToolwrightError {
  return new ToolwrightError(
    'STALE_APPEND',
    `Expected sequence ${expectedSeq}, but the log is at ${seq}: another writer appended first. Read the log again.`,
  )
}
