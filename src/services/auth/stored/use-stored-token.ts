import type { AuthCredential } from '../../../core/content/auth.ts'
import { AuthError } from '../auth-error.ts'
import { failureText, quoteKey, reportFailure } from '../auth-failure.ts'
import { type AuthRecord, deleteRecord, loadRecord, saveRecord } from '../auth-records.ts'
import { forgetRefusedClient } from './forget-client.ts'
import { requestOnce } from './refresh-token.ts'
import { timesOf } from './stored-credential.ts'
import { type CredentialNeed, ownSource, refreshSource } from './token-sources.ts'

/** A stored token. */
interface StoredToken {
  /** The row that was loaded. */
  readonly row: AuthRecord
  /** Its credential, checked. */
  readonly stored: AuthCredential
  /** Seconds before expiry at which it is refreshed. */
  readonly refreshBuffer: number
}

/**
 * Uses a stored token, refreshed when needed. Undefined if it has expired and was deleted, `changed` if another writer has
 * replaced it. Throws if the token has expired and the request for a new one failed.
 */
export async function useStoredToken(
  need: CredentialNeed,
  token: StoredToken,
): Promise<AuthCredential | 'changed' | undefined> {
  const { services, key } = need
  const { row, stored, refreshBuffer } = token
  const { refreshAt, expiresAt } = timesOf(stored, refreshBuffer)
  const isValid = (): boolean => services.ports.now() / 1000 < expiresAt
  if (isValid() && services.ports.now() / 1000 < refreshAt) return stored
  const refresh = refreshSource(need, stored)
  const request = refresh ?? ownSource(need, stored)
  if (!request && isValid()) return stored
  if (!request)
    return (await deleteRecord(services, { key, expectedGeneration: row.generation })) ? undefined : 'changed'
  const onFailure = async (error: unknown): Promise<void> => {
    if (refresh && isFinal(error)) await endToken(need, token, isValid())
    await forgetRefusedClient(services, need.config, error)
  }
  const result = await requestOnce(services, { key, seen: row, waits: !isValid(), request, onFailure })
  if (result.type === 'stored') return result.credential
  if (result.type !== 'failed') return result.type === 'busy' && isValid() ? stored : 'changed'
  if (!isValid() && !(refresh && isFinal(result.error))) throw result.error
  const consequence = isValid() ? 'The token is used until it expires.' : 'The token was deleted.'
  reportFailure(
    services,
    `The token ${quoteKey(key)} was not refreshed. ${failureText(result.error)} ${consequence}`,
    result.error,
  )
  if (isValid()) return stored
  const current = await loadRecord(services, key)
  return current && current.generation !== row.generation ? 'changed' : undefined
}

/**
 * Ends a token whose refresh token the server refuses. A token that is still valid stays without its refresh token, so
 * that no later call sends the refused one again.
 */
async function endToken({ services, key }: CredentialNeed, token: StoredToken, isValid: boolean): Promise<void> {
  const expectedGeneration = token.row.generation
  if (!isValid) {
    await deleteRecord(services, { key, expectedGeneration })
    return
  }
  const { refreshToken: _refused, ...oauth2 } = token.stored.oauth2 ?? {}
  await saveRecord(services, { key, credential: { ...token.stored, oauth2 }, expectedGeneration })
}

function isFinal(error: unknown): boolean {
  return error instanceof AuthError && error.isFinal
}
