import type { AuthCredential } from '../../core/content/auth.ts'

/** Identifies a credential. */
export interface CredentialKey {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** The name of the credential. */
  readonly key: string
}

/** A credential with its generation. */
export interface StoredCredential {
  /** The credential. */
  readonly credential: AuthCredential
  /** Grows with every save. `expectedGeneration` is compared with it. */
  readonly generation: number
}

/** Stores secrets by app, user and key. Secrets are stored nowhere else. */
export interface CredentialService {
  /** Loads a credential. Undefined if there is none. */
  load(key: CredentialKey): Promise<StoredCredential | undefined>
  /**
   * Saves a credential. Returns its new generation. With `expectedGeneration`, throws STALE_APPEND if the stored
   * generation differs, because another writer has saved it. The generation of a credential that does not exist is 0.
   */
  save(
    options: CredentialKey & { credential: AuthCredential; expectedGeneration?: number | undefined },
  ): Promise<number>
  /** Deletes a credential, with `expectedGeneration` only that generation. Returns whether one was deleted. */
  delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean>
  /**
   * Lists the keys of a user's credentials, sorted, without secrets. Keys of the framework are among them: `consent:`, `refresh:`
   * and `oauth-client:`. Optional: without it, consents that were never completed stay in the store.
   */
  list?(user: Omit<CredentialKey, 'key'>): Promise<string[]>
}
