import { copyJson } from '../base/json.ts'
import type { AuthCredential } from '../content/auth.ts'
import { ToolwrightError } from '../error/error.ts'
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
    const current = this.#stored.get(key)?.generation ?? 0
    if (expectedGeneration !== undefined && expectedGeneration !== current) {
      throw new ToolwrightError(
        'STALE_APPEND',
        `Credential "${options.key}" was not saved: expectedGeneration is ${expectedGeneration}, but the stored generation is ${current}. Load the credential again, then save it.`,
      )
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
}

/** Joins all ids to one key. It is JSON, because an id may contain any separator. */
function toKey({ appName, userId, key }: CredentialKey): string {
  return JSON.stringify([appName, userId, key])
}
