import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { SessionKey } from './service.ts'

/** The most characters of an id. Longer ids are refused, because every store must be able to index them. */
const MAX_ID_LENGTH = 1000

/** The most bytes of the ids that a row is stored under, as JSON text in UTF-8. It is what Postgres can index. */
const MAX_BYTES_TOGETHER = 2_600
/** So many characters have fewer bytes in any case: an escape has 6. */
export const FEW_CHARACTERS = 400

/** Throws INVALID_REQUEST for an id that is not a string, is empty, or is too long. `name` names the id in the error. */
export function checkId(name: string, id: unknown): void {
  if (typeof id === 'string' && id.length > 0 && id.length <= MAX_ID_LENGTH) return
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `${name} must be a string of 1 to ${MAX_ID_LENGTH} characters, got ${describeId(id)}.`,
  )
}

/** Throws INVALID_REQUEST if an id of the key is not valid. */
export function checkKey(key: SessionKey): void {
  checkId('appName', key.appName)
  checkId('userId', key.userId)
  checkId('sessionId', key.sessionId)
}

/** Throws INVALID_REQUEST if a session cannot be created under this key. A store may hold older sessions with longer ids. */
export function checkNewKey(key: SessionKey): void {
  checkKey(key)
  const { appName, userId, sessionId } = key
  checkTogether({ appName, userId, sessionId })
}

/** Throws INVALID_REQUEST if something new has ids that are too long together. Their names are used in the error. */
export function checkTogether(ids: { readonly [name: string]: string }): void {
  const all = Object.values(ids)
  if (all.reduce((sum, id) => sum + id.length, 0) <= FEW_CHARACTERS) return
  const bytes = all.reduce((sum, id) => sum + new TextEncoder().encode(JSON.stringify(id)).length - 2, 0)
  if (bytes <= MAX_BYTES_TOGETHER) return
  const names = Object.keys(ids)
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `${names.join(', ')} must have at most ${MAX_BYTES_TOGETHER} bytes${names.length > 1 ? ' together' : ''}, got ${bytes}. Use shorter ids.`,
  )
}

/** Throws INVALID_REQUEST if the app or the user is missing or not valid. */
export function checkUser(user: { appName: string; userId: string }): void {
  checkId('appName', user.appName)
  checkId('userId', user.userId)
}

/** Throws INVALID_REQUEST if an id of the filter is not valid. The user and the session are optional. */
export function checkFilter(filter: {
  appName: string
  userId?: string | undefined
  sessionId?: string | undefined
}): void {
  checkId('appName', filter.appName)
  if (filter.userId !== undefined) checkId('userId', filter.userId)
  if (filter.sessionId !== undefined) checkId('sessionId', filter.sessionId)
}

function describeId(id: unknown): string {
  if (typeof id !== 'string') return kindOf(id)
  return id === '' ? 'an empty string' : `${id.length} characters`
}
