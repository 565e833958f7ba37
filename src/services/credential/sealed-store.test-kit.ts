import { staleCredential } from './check-credential.ts'
import type { SealedCredential, SealedCredentialStore } from './sealed-store.ts'
import type { CredentialKey } from './service.ts'

/** A store of encrypted credentials in memory, whose rows a test can read and change. */
export class MemorySealedStore implements SealedCredentialStore {
  readonly rows: Map<string, CredentialKey & SealedCredential> = new Map()
  #lastGeneration = 0

  async load(key: CredentialKey): Promise<SealedCredential | undefined> {
    return this.rows.get(idOf(key))
  }

  async save(
    options: CredentialKey & { sealed: Uint8Array; expectedGeneration?: number | undefined },
  ): Promise<number> {
    const { appName, userId, key, sealed, expectedGeneration } = options
    const stored = this.rows.get(idOf(options))?.generation ?? 0
    if (expectedGeneration !== undefined && expectedGeneration !== stored) {
      throw staleCredential(key, expectedGeneration, stored)
    }
    const generation = ++this.#lastGeneration
    this.rows.set(idOf(options), { appName, userId, key, sealed, generation })
    return generation
  }

  async delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean> {
    const { expectedGeneration } = options
    const stored = this.rows.get(idOf(options))
    if (expectedGeneration !== undefined && expectedGeneration !== stored?.generation) return false
    return this.rows.delete(idOf(options))
  }

  async *list(): AsyncGenerator<CredentialKey & SealedCredential, void> {
    yield* [...this.rows.values()]
  }

  async replace(row: CredentialKey & SealedCredential): Promise<boolean> {
    const { appName, userId, key, sealed, generation } = row
    if (this.rows.get(idOf(row))?.generation !== generation) return false
    this.rows.set(idOf(row), { appName, userId, key, sealed, generation })
    return true
  }

  /** Replaces the stored bytes of a credential, like another program that writes to the database. */
  tamper(key: CredentialKey, sealed: unknown): void {
    const row = this.rows.get(idOf(key))
    if (row) this.rows.set(idOf(key), { ...row, sealed: sealed as Uint8Array })
  }

  /** The stored bytes of a credential. */
  bytes(key: CredentialKey): Uint8Array {
    return this.rows.get(idOf(key))?.sealed ?? new Uint8Array()
  }
}

function idOf({ appName, userId, key }: CredentialKey): string {
  return JSON.stringify([appName, userId, key])
}
