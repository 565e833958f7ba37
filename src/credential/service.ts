import type { AuthCredential } from '../content/auth.ts'

export interface CredentialKey {
  readonly appName: string
  readonly userId: string
  readonly key: string
}

export interface StoredCredential {
  readonly credential: AuthCredential
  /** Grows with every save; what a compare-and-set compares. */
  readonly generation: number
}

/** Secrets, by app, user and key. Nothing else may hold them. */
export interface CredentialService {
  load(key: CredentialKey): Promise<StoredCredential | undefined>
  /** Gives the new generation. With `expectedGeneration` (0 = none yet) another's save in between is STALE_APPEND. */
  save(
    options: CredentialKey & { credential: AuthCredential; expectedGeneration?: number | undefined },
  ): Promise<number>
  /** With `expectedGeneration` only that one is deleted; tells whether it was. */
  delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean>
}
