// Where the keys come from that encrypt the credentials of a Postgres database.
import { ToolwrightError } from '../../core/error/error.ts'
import type { EncryptedCredentialOptions } from '../../services/credential/encrypted.ts'
import { KEYS_VARIABLE, keysOfEnvironment } from '../sqlite/encryption-keys.ts'

/** The encryption keys. Without any, credentials are neither saved nor loaded: a file of one machine cannot hold the keys of many. */
export function encryptionOf(encryptionKeys: readonly string[] | undefined): EncryptedCredentialOptions {
  if (encryptionKeys !== undefined) return { encryptionKeys }
  if (process.env[KEYS_VARIABLE] !== undefined) return { encryptionKeys: keysOfEnvironment(), keySource: KEYS_VARIABLE }
  return {
    encryptionKeys: () => {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `postgres() has no key to encrypt credentials with. Set encryptionKeys, or ${KEYS_VARIABLE}, to the same keys in all processes.`,
      )
    },
  }
}
