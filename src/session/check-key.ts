import { kindOf } from '../base/kind-of.ts'
import { ToolwrightError } from '../error/error.ts'
import type { SessionKey } from './service.ts'

/** Longer ids are refused: every store must be able to index them. */
export const MAX_ID_LENGTH = 1000

/** Refuses an id that is no string, empty, or longer than a store must hold. */
export function checkId(name: string, id: unknown): void {
  if (typeof id === 'string' && id.length > 0 && id.length <= MAX_ID_LENGTH) return
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `${name} must be a string of 1 to ${MAX_ID_LENGTH} characters, got ${id === '' ? 'an empty one' : kindOf(id)}.`,
  )
}

export function checkKey(key: SessionKey): void {
  checkId('appName', key.appName)
  checkId('userId', key.userId)
  checkId('sessionId', key.sessionId)
}

/** Refuses what cannot narrow a search: an app is always named, a user and a session perhaps. */
export function checkFilter(filter: {
  appName: string
  userId?: string | undefined
  sessionId?: string | undefined
}): void {
  checkId('appName', filter.appName)
  if (filter.userId !== undefined) checkId('userId', filter.userId)
  if (filter.sessionId !== undefined) checkId('sessionId', filter.sessionId)
}
