import { invalid } from './fields.ts'

/** Throws INVALID_REQUEST for the id of a new session that no address can name: clients would create it and never reach it. */
export function checkNewId(sessionId: string | undefined): void {
  if (sessionId === '.' || sessionId === '..')
    throw invalid(`sessionId must not be "${sessionId}": no address can name it.`)
  checkUnicode('sessionId', sessionId ?? '')
}

/** Throws INVALID_REQUEST for a name with half of a surrogate pair, which no address can encode. */
export function checkUnicode(field: string, name: string): void {
  if (!name.isWellFormed()) throw invalid(`${field} must be valid Unicode, got half of a surrogate pair.`)
}
