import { ToolwrightError } from '../error/error.ts'

/** Longer ids are refused: every store must be able to index them. */
export const MAX_ID_LENGTH = 1000

/** Refuses an id that is no string, empty, or longer than a store must hold. */
export function checkId(name: string, id: unknown): void {
  if (typeof id === 'string' && id.length > 0 && id.length <= MAX_ID_LENGTH) return
  throw new ToolwrightError('INVALID_REQUEST', `${name} must be a string of 1 to ${MAX_ID_LENGTH} characters.`)
}
