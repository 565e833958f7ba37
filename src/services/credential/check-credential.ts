// Checks and errors that all credential services share. No message contains anything of a credential but its key.
import { isRecord } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import type { AuthCredential } from '../../core/content/auth.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkId, checkTogether } from '../session/check-key.ts'
import type { CredentialKey } from './service.ts'

/** Throws INVALID_REQUEST if an id of the key is not valid. */
export function checkCredentialKey(key: CredentialKey): void {
  checkId('appName', key.appName)
  checkId('userId', key.userId)
  checkId('key', key.key)
}

/** Throws INVALID_REQUEST if a credential cannot be saved under this key. One that is replaced may have a longer key. */
export function checkSavedKey(given: CredentialKey & { expectedGeneration?: number | undefined }): void {
  checkCredentialKey(given)
  const { appName, userId, key, expectedGeneration } = given
  if (!expectedGeneration) checkTogether({ appName, userId, key })
}

/** Throws INVALID_REQUEST if the value is not a credential. `key` names it in the error. */
export function checkCredential(key: string, credential: unknown): asserts credential is AuthCredential {
  if (isCredential(credential)) return
  const got = isRecord(credential) ? `authType ${kindOf(credential.authType)}` : kindOf(credential)
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `Credential "${key}" was not saved: a credential must be an object with an authType, got ${got}.`,
  )
}

/** Is the value an object with an `authType`? */
export function isCredential(value: unknown): value is AuthCredential {
  return isRecord(value) && typeof value.authType === 'string' && value.authType !== ''
}

/** The error of a save whose `expectedGeneration` is not the stored one. The generation of a missing credential is 0. */
export function staleCredential(key: string, expectedGeneration: number, stored: number): ToolwrightError {
  return new ToolwrightError(
    'STALE_APPEND',
    `Credential "${key}" was not saved: expectedGeneration is ${expectedGeneration}, but the stored generation is ${stored}. Load the credential again, then save it.`,
  )
}
