import { copyJson } from '../../core/base/json.ts'
import type { AuthCredential } from '../../core/content/auth.ts'
import { checkCredential, checkCredentialKey, checkSavedKey, staleCredential } from './check-credential.ts'
import type { CredentialKey, CredentialService, StoredCredential } from './service.ts'

/** Keeps credentials in the memory of this process. */
export class InMemoryCredentialService implements CredentialService {
  readonly #stored: Map<string, StoredCredential> = new Map()
  // The last generation of any credential. No generation is used twice, so a credential that is deleted and saved again
  // gets a new generation.
  #lastGeneration = 0

  async load(key: CredentialKey): Promise<StoredCredential | undefined> {
    return copyJson(this.#stored.get(toKey(key)))
  }

  async save(
    options: CredentialKey & { credential: AuthCredential; expectedGeneration?: number | undefined },
  ): Promise<number> {
    const { credential, expectedGeneration } = options
    const key = toKey(options)
    checkSavedKey(options)
    checkCredential(options.key, credential)
    const current = this.#stored.get(key)?.generation ?? 0
    if (expectedGeneration !== undefined && expectedGeneration !== current) {
      throw staleCredential(options.key, expectedGeneration, current)
    }
    const copy = copyJson(credential)
    const generation = ++this.#lastGeneration
    this.#stored.set(key, { credential: copy, generation })
    return generation
  }

  async delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean> {
    const { expectedGeneration } = options
    const key = toKey(options)
    if (expectedGeneration !== undefined && this.#stored.get(key)?.generation !== expectedGeneration) return false
    return this.#stored.delete(key)
  }

  async list({ appName, userId }: Omit<CredentialKey, 'key'>): Promise<string[]> {
    const own = toKey({ appName, userId, key: 'k' }).slice(0, -'"k"]'.length)
    const keys = [...this.#stored.keys()].filter((id) => id.startsWith(own))
    return keys.map((id) => JSON.parse(id)[2] as string).sort()
  }
}

/** Joins all ids to one key. It is JSON, because an id may contain any separator. */
function toKey(of: CredentialKey): string {
  checkCredentialKey(of)
  return JSON.stringify([of.appName, of.userId, of.key])
}
