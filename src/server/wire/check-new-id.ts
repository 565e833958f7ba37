import { invalid } from './fields.ts'

/** Throws INVALID_REQUEST for the id of a new session that no address can name: clients would create it and never reach it. */
export function checkNewId(sessionId: string | undefined): void {
  if (sessionId === undefined) return
  if (sessionId === '.' || sessionId === '..')
    throw invalid(`sessionId must not be "${sessionId}": no address can name it.`)
  if (!sessionId.isWellFormed()) throw invalid('sessionId must be valid Unicode, got half of a surrogate pair.')
}
