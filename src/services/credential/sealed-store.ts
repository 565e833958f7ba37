import type { CredentialKey } from './service.ts'

/** An encrypted credential with its generation. */
export interface SealedCredential {
  /** The encrypted credential. */
  readonly sealed: Uint8Array
  /** Grows with every save, and is never used twice for one key. */
  readonly generation: number
}

/**
 * Stores encrypted credentials as bytes. Implement it for a database, and pass it to `EncryptedCredentialService`, which
 * encrypts, decrypts and checks the ids. The store never sees a secret.
 */
export interface SealedCredentialStore {
  /** Loads a credential. Undefined if there is none. */
  load(key: CredentialKey): Promise<SealedCredential | undefined>
  /**
   * Saves a credential. Returns its new generation, which was never used for this key, also not before a delete. With
   * `expectedGeneration`, throws STALE_APPEND if the stored generation differs. The generation of a missing credential is
   * 0. Comparing and saving are one transaction.
   */
  save(options: CredentialKey & { sealed: Uint8Array; expectedGeneration?: number | undefined }): Promise<number>
  /** Deletes a credential, with `expectedGeneration` only that generation. Returns whether one was deleted. */
  delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean>
  /**
   * Lists all credentials, in any order. Needed by `reencrypt()` and `list()`. With `user`, those of other users may be left out.
   */
  list?(user?: Omit<CredentialKey, 'key'>): AsyncIterable<CredentialKey & SealedCredential>
  /**
   * Replaces the bytes of one generation, which stays the same: the secret has not changed, and a writer that has loaded
   * it can still save. Returns false if the stored generation differs. Needed by `reencrypt()`.
   */
  replace?(options: CredentialKey & SealedCredential): Promise<boolean>
}
