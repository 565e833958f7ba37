// Loads and saves the rows of one user. The errors of a store are replaced, because they may quote what was stored.
import { isRecord } from '../../core/base/json.ts'
import type { AuthCredential } from '../../core/content/auth.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { failureText, quoteKey } from './auth-failure.ts'
import type { AuthServices } from './auth-services.ts'

/** The user and the store. */
type RecordOwner = Pick<AuthServices, 'appName' | 'userId' | 'credentialService' | 'isUserDeleted'>

/** A stored row. Its credential is not checked: a row is untrusted. */
export interface AuthRecord {
  /** What was stored. */
  readonly credential: unknown
  /** The generation of the row. */
  readonly generation: number
}

const CONSENT_PREFIX = 'consent:'
const LOCK_PREFIX = 'refresh:'
const CLIENT_PREFIX = 'oauth-client:'

/** The prefixes of keys that a tool may not use, for messages. */
export const RESERVED_PREFIXES = '"consent:", "refresh:" or "oauth-client:"'

/** The key of an open consent. */
export function consentKeyOf(id: string): string {
  return `${CONSENT_PREFIX}${id}`
}

/** The ids of the stored consents of a user. None if the store cannot list keys. Throws STORAGE. */
export async function listConsents({ credentialService, ...owner }: RecordOwner): Promise<string[]> {
  const keys = await withStore(
    'list',
    CONSENT_PREFIX,
    async () => (await credentialService.list?.(scopeOf(owner))) ?? [],
  )
  return keys.filter((key) => key.startsWith(CONSENT_PREFIX)).map((key) => key.slice(CONSENT_PREFIX.length))
}

/** The key of the refresh lock of a credential. */
export function lockKeyOf(key: string): string {
  return `${LOCK_PREFIX}${key}`
}

/** The key of an OAuth client that was registered for the user. */
export function clientKeyOf(id: string): string {
  return `${CLIENT_PREFIX}${id}`
}

/** Is it a key of an open consent, a refresh lock or a registered client? A tool may neither read nor write these. */
export function isReservedKey(key: string): boolean {
  return [CONSENT_PREFIX, LOCK_PREFIX, CLIENT_PREFIX].some((prefix) => key.startsWith(prefix))
}

/** Loads a row. Throws STORAGE. */
export async function loadRecord(owner: RecordOwner, key: string): Promise<AuthRecord | undefined> {
  const row: unknown = await withStore('load', key, () => owner.credentialService.load({ ...scopeOf(owner), key }))
  if (row === undefined || row === null) return undefined
  if (isRecord(row) && typeof row.generation === 'number') {
    return { credential: row.credential, generation: row.generation }
  }
  throw new ToolwrightError(
    'STORAGE',
    `The credential service returned a row without a generation for ${quoteKey(key)}.`,
  )
}

/** Saves a row. Returns its generation, or undefined if the stored generation is another one. Throws STORAGE. */
export async function saveRecord(
  owner: RecordOwner,
  record: { key: string; credential: AuthCredential; expectedGeneration?: number | undefined },
): Promise<number | undefined> {
  return await withStore('save', record.key, async () => {
    try {
      const generation = await owner.credentialService.save({ ...scopeOf(owner), ...record })
      if (!(await owner.isUserDeleted?.())) return generation
      await owner.credentialService.delete({ ...scopeOf(owner), key: record.key, expectedGeneration: generation })
      return undefined
    } catch (error) {
      if (error instanceof ToolwrightError && error.code === 'STALE_APPEND') return undefined
      throw error
    }
  })
}

/** Deletes a row, with `expectedGeneration` only that generation. Returns whether it was deleted. Throws STORAGE. */
export async function deleteRecord(
  owner: RecordOwner,
  record: { key: string; expectedGeneration?: number | undefined },
): Promise<boolean> {
  return await withStore('delete', record.key, () => owner.credentialService.delete({ ...scopeOf(owner), ...record }))
}

/** Identifies one credential of one user in the maps of this process. */
export function recordId(owner: RecordOwner, key: string): string {
  return JSON.stringify([owner.appName, owner.userId, key])
}

function scopeOf({ appName, userId }: Omit<RecordOwner, 'credentialService'>): { appName: string; userId: string } {
  return { appName, userId }
}

async function withStore<T>(verb: string, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Without a cause: a database error may contain the row.
    throw new ToolwrightError(
      'STORAGE',
      `The credential service could not ${verb} ${quoteKey(key)}. ${failureText(error)}`,
    )
  }
}
