import type { StatementSync } from 'node:sqlite'
import { staleCredential } from '../../services/credential/check-credential.ts'
import type { SealedCredential, SealedCredentialStore } from '../../services/credential/sealed-store.ts'
import type { CredentialKey } from '../../services/credential/service.ts'
import type { Database } from './database.ts'
import { toText, tryFromJson } from './escaped-text.ts'

/** How many rows `list` reads at once. */
const PAGE_SIZE = 100

interface Row {
  readonly generation: number
  readonly app: string
  readonly user: string
  readonly key: string
  readonly sealed: Uint8Array
}

/** Stores encrypted credentials in a SQLite file. */
export class SqliteCredentialStore implements SealedCredentialStore {
  readonly #database: Database
  readonly #load: StatementSync
  readonly #generation: StatementSync
  readonly #insert: StatementSync
  readonly #delete: StatementSync
  readonly #page: StatementSync
  readonly #pageOfUser: StatementSync
  readonly #replace: StatementSync

  constructor(database: Database) {
    const ofKey = 'app = ? AND user = ? AND key = ?'
    this.#database = database
    this.#load = database.prepare(`SELECT generation, sealed FROM toolwright_credentials WHERE ${ofKey}`)
    this.#generation = database.prepare(`SELECT generation FROM toolwright_credentials WHERE ${ofKey}`)
    // The replaced row is deleted, so the new row gets a new generation.
    this.#insert = database.prepare(
      'INSERT OR REPLACE INTO toolwright_credentials (app, user, key, sealed) VALUES (?, ?, ?, ?) RETURNING generation',
    )
    this.#delete = database.prepare(`DELETE FROM toolwright_credentials WHERE ${ofKey}`)
    this.#page = database.prepare(
      `SELECT * FROM toolwright_credentials WHERE generation > ? ORDER BY generation LIMIT ${PAGE_SIZE}`,
    )
    this.#pageOfUser = database.prepare(
      `SELECT * FROM toolwright_credentials WHERE generation > ? AND app = ? AND user = ? ORDER BY generation LIMIT ${PAGE_SIZE}`,
    )
    this.#replace = database.prepare(`UPDATE toolwright_credentials SET sealed = ? WHERE ${ofKey} AND generation = ?`)
  }

  /** Loads a credential. */
  async load(key: CredentialKey): Promise<SealedCredential | undefined> {
    const columns = rowKey(key)
    const row = (await this.#database.read(() => this.#load.get(...columns))) as unknown as Row | undefined
    return row && { sealed: row.sealed, generation: row.generation }
  }

  /** Saves a credential and returns its new generation. */
  async save(
    options: CredentialKey & { sealed: Uint8Array; expectedGeneration?: number | undefined },
  ): Promise<number> {
    const { key, sealed, expectedGeneration } = options
    const columns = rowKey(options)
    return await this.#database.write(() => {
      const stored = this.#generationOf(columns)
      if (expectedGeneration !== undefined && expectedGeneration !== stored) {
        throw staleCredential(key, expectedGeneration, stored)
      }
      return this.#insert.get(...columns, sealed)?.generation as number
    })
  }

  /** Deletes a credential, or one generation of it. */
  async delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean> {
    const { expectedGeneration } = options
    const columns = rowKey(options)
    return await this.#database.write(() => {
      // compared here, because SQLite takes NaN as NULL
      if (expectedGeneration !== undefined && expectedGeneration !== this.#generationOf(columns)) return false
      return Number(this.#delete.run(...columns).changes) > 0
    })
  }

  /** Lists all credentials by generation, or those of a user, a page at a time. */
  async *list(user?: Omit<CredentialKey, 'key'>): AsyncGenerator<CredentialKey & SealedCredential, void> {
    const owner = user && ([toText(user.appName), toText(user.userId)] as const)
    let rows: Row[]
    let last = 0
    const readPage = (): unknown[] => (owner ? this.#pageOfUser.all(last, ...owner) : this.#page.all(last))
    do {
      rows = (await this.#database.read(readPage)) as Row[]
      for (const { app, user, key, sealed, generation } of rows) {
        yield { appName: toId(app), userId: toId(user), key: toId(key), sealed, generation }
        last = generation
      }
    } while (rows.length === PAGE_SIZE)
  }

  /** Replaces the bytes of one generation. */
  async replace(options: CredentialKey & SealedCredential): Promise<boolean> {
    const columns = rowKey(options)
    const { sealed, generation } = options
    return await this.#database.write(() => Number(this.#replace.run(sealed, ...columns, generation).changes) > 0)
  }

  /** Are there any credentials? */
  async hasCredentials(): Promise<boolean> {
    return (await this.#database.read(() => this.#page.get(0))) !== undefined
  }

  #generationOf(columns: readonly [string, string, string]): number {
    return (this.#generation.get(...columns)?.generation as number | undefined) ?? 0
  }
}

function rowKey({ appName, userId, key }: CredentialKey): [app: string, user: string, key: string] {
  return [toText(appName), toText(userId), toText(key)]
}

/** Decodes an id. A damaged one is returned as it is, so that the credential is reported as one that cannot be decrypted. */
function toId(text: string): string {
  const id = tryFromJson(`"${text}"`)
  return typeof id === 'string' ? id : text
}
