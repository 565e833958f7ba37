import type { AuthCredential } from '../../../core/content/auth.ts'
import { deleteRecord, loadRecord, saveRecord } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { credentialKeyOf } from '../config/credential-key.ts'
import { readStoredCredential } from './stored-credential.ts'

/**
 * Ends the stored token that a server refused although it has not expired, for example because it was revoked. The next
 * resolution refreshes it, or asks the user again. A token that another call has replaced in the meantime stays.
 */
export async function endRefusedToken(
  services: AuthServices,
  config: CheckedAuthConfig,
  refused: AuthCredential,
): Promise<void> {
  const key = await credentialKeyOf(config)
  const row = await loadRecord(services, key)
  const stored = row && readStoredCredential(row.credential, config.authScheme)
  if (!row || !stored?.oauth2 || !isSameToken(stored, refused)) return
  const expectedGeneration = row.generation
  if (stored.oauth2.refreshToken === undefined) {
    await deleteRecord(services, { key, expectedGeneration })
    return
  }
  const credential = { ...stored, oauth2: { ...stored.oauth2, expiresAt: 0 } }
  await saveRecord(services, { key, credential, expectedGeneration })
}

/** Do two credentials have the same access token? */
export function isSameToken(one: AuthCredential, other: AuthCredential): boolean {
  return one.oauth2?.accessToken !== undefined && one.oauth2.accessToken === other.oauth2?.accessToken
}
