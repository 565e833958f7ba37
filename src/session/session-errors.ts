// The errors of a session service, the same in every store.
import { ToolwrightError } from '../error/error.ts'

/** The session does not exist. */
export function sessionNotFound(sessionId: string): ToolwrightError {
  return new ToolwrightError('NOT_FOUND', `There is no session "${sessionId}" of this user.`)
}

/** A session with this id exists. */
export function sessionExists(sessionId: string): ToolwrightError {
  return new ToolwrightError('ALREADY_EXISTS', `Session "${sessionId}" already exists.`)
}

/** Another holder has the lease. */
export function sessionBusy(sessionId: string): ToolwrightError {
  return new ToolwrightError('SESSION_BUSY', `Session "${sessionId}" is in use.`)
}

/** The lease was released, or another holder has taken it over. */
export function leaseLost(sessionId: string): ToolwrightError {
  return new ToolwrightError('LEASE_LOST', `The lease on session "${sessionId}" is no longer held.`)
}

/** The log has grown since the writer last read it. */
export function staleAppend(expectedSeq: number, seq: number): ToolwrightError {
  return new ToolwrightError('STALE_APPEND', `Expected sequence ${expectedSeq}, but the log is at ${seq}.`)
}
