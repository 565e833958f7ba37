import type { AuthCredential } from '../../core/content/auth.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkCredential, checkCredentialKey, checkSavedKey } from './check-credential.ts'
import { decodeKeys, importKeys, type KeyRing, type RingKey, toHex } from './key-ring.ts'
import { keyIdOf, open, seal, unreadable } from './seal.ts'
import type { SealedCredential, SealedCredentialStore } from './sealed-store.ts'
import type { CredentialKey, CredentialService, StoredCredential } from './service.ts'

/** Options of `EncryptedCredentialService`. */
export interface EncryptedCredentialOptions {
  /**
   * Encryption keys, each base64 of 32 random bytes. The first one encrypts, all decrypt. A function is called on first use,
   * and again when a credential needs a key that is not in its list.
   */
  readonly encryptionKeys: readonly string[] | (() => readonly string[] | Promise<readonly string[]>)
  /** Names the option, variable or file that holds the keys, for error messages. Default: `encryptionKeys`. */
  readonly keySource?: string | undefined
}

/** What `reencrypt()` has done. */
export interface ReencryptResult {
  /** Credentials that are now encrypted with the first key. */
  readonly reencrypted: number
  /** Credentials that were already encrypted with the first key. */
  readonly unchanged: number
  /** Credentials that another writer has saved or deleted meanwhile. */
  readonly skipped: number
  /** Credentials that cannot be decrypted. */
  readonly failed: number
  /** The error of the first credential that cannot be decrypted. */
  readonly firstError?: ToolwrightError
}

/**
 * Encrypts credentials with AES-256-GCM before a store gets them. Each is bound to its app, user and key: a row that is copied
 * to another user cannot be decrypted.
 *
 * To replace a key: append the new key to `encryptionKeys` in all processes, then move it to the front, call `reencrypt()`,
 * and remove the old key when no credential failed.
 *
 * @example
 * const credentialService = new EncryptedCredentialService(store, { encryptionKeys: [process.env.KEY] })
 */
export class EncryptedCredentialService implements CredentialService {
  readonly #store: SealedCredentialStore
  readonly #keySource: string
  readonly #loadRing: () => Promise<KeyRing>
  readonly #hasFixedKeys: boolean
  #ring: Promise<KeyRing> | undefined

  constructor(store: SealedCredentialStore, options: EncryptedCredentialOptions) {
    const { encryptionKeys, keySource = 'encryptionKeys' } = options
    this.#store = store
    this.#keySource = keySource
    this.#hasFixedKeys = typeof encryptionKeys !== 'function'
    if (typeof encryptionKeys === 'function') {
      this.#loadRing = async () => importKeys(decodeKeys(await encryptionKeys(), keySource))
    } else {
      const keys = decodeKeys(encryptionKeys, keySource)
      this.#loadRing = () => importKeys(keys)
    }
  }

  /** Loads and decrypts a credential. Throws STORAGE if it cannot be decrypted. */
  async load(key: CredentialKey): Promise<StoredCredential | undefined> {
    checkCredentialKey(key)
    const stored = await this.#store.load(key)
    if (!stored) return undefined
    return { credential: await this.#open(key, stored.sealed), generation: stored.generation }
  }

  /** Encrypts and saves a credential, with the first key. */
  async save(
    options: CredentialKey & { credential: AuthCredential; expectedGeneration?: number | undefined },
  ): Promise<number> {
    const { appName, userId, key, credential, expectedGeneration } = options
    checkSavedKey(options)
    checkCredential(key, credential)
    const { first } = await this.#currentRing()
    const sealed = await seal({ appName, userId, key }, credential, first)
    return await this.#store.save({ appName, userId, key, sealed, expectedGeneration })
  }

  /** Deletes a credential, also one that cannot be decrypted. */
  async delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean> {
    checkCredentialKey(options)
    return await this.#store.delete(options)
  }

  /** Lists the keys of a user's credentials, without decrypting them. Throws INVALID_CONFIG if the store has no `list`. */
  async list({ appName, userId }: Omit<CredentialKey, 'key'>): Promise<string[]> {
    checkCredentialKey({ appName, userId, key: 'any' })
    const store = this.#store
    if (!store.list) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        'list() needs a store that can list credentials. Implement list() of SealedCredentialStore.',
      )
    }
    const keys: string[] = []
    for await (const row of store.list({ appName, userId })) {
      if (row.appName === appName && row.userId === userId) keys.push(row.key)
    }
    return keys.sort()
  }

  /**
   * Encrypts every stored credential with the first key. Generations stay the same. After an interruption call it again: it
   * continues with the credentials that are left. Throws INVALID_CONFIG if the store has no `list` or `replace`.
   */
  async reencrypt(): Promise<ReencryptResult> {
    const store = this.#store
    if (!store.list || !store.replace) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        'reencrypt() needs a store that can list and replace credentials. Implement list() and replace() of SealedCredentialStore.',
      )
    }
    const { first } = await this.#currentRing()
    const count = { reencrypted: 0, unchanged: 0, skipped: 0, failed: 0 }
    let firstError: ToolwrightError | undefined
    for await (const row of store.list()) {
      const sealed = await this.#reseal(row, first).catch(asToolwrightError)
      if (sealed === undefined) count.unchanged += 1
      else if (sealed instanceof ToolwrightError) {
        firstError ??= sealed
        count.failed += 1
      } else count[(await store.replace({ ...row, sealed })) ? 'reencrypted' : 'skipped'] += 1
    }
    return { ...count, ...(firstError && { firstError }) }
  }

  /** Encrypts a stored credential with the first key. Undefined if it already is. */
  async #reseal(row: CredentialKey & SealedCredential, first: RingKey): Promise<Uint8Array | undefined> {
    if (keyIdOf(row, row.sealed) === toHex(first.id)) return undefined
    return await seal(row, await this.#open(row, row.sealed), first)
  }

  async #open(key: CredentialKey, sealed: Uint8Array): Promise<AuthCredential> {
    const id = keyIdOf(key, sealed)
    let ringKey = (await this.#currentRing()).byId.get(id)
    if (!ringKey && !this.#hasFixedKeys) {
      this.#ring = undefined // the source may have a new key by now
      ringKey = (await this.#currentRing()).byId.get(id)
    }
    if (ringKey) return await open(key, sealed, ringKey)
    throw unreadable(
      key,
      `it is encrypted with the key ${id}, which is not in ${this.#keySource}. Add that key to ${this.#keySource} after the first one, or delete the credential and request it again.`,
    )
  }

  #currentRing(): Promise<KeyRing> {
    if (this.#ring) return this.#ring
    const ring = this.#loadRing()
    this.#ring = ring
    // a failure is not kept: the next use loads the keys again
    ring.catch(() => {
      if (this.#ring === ring) this.#ring = undefined
    })
    return ring
  }
}

/** An error of one credential, which does not stop the others. Any other error is thrown. */
function asToolwrightError(error: unknown): ToolwrightError {
  if (error instanceof ToolwrightError) return error
  throw error
}
