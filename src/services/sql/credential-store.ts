import { staleCredential } from '../credential/check-credential.ts'
import type { SealedCredential, SealedCredentialStore } from '../credential/sealed-store.ts'
import type { CredentialKey } from '../credential/service.ts'
import { toText, tryFromJson } from './escaped-text.ts'
import { changesOf, command, query, rowOf, type SqlDatabase, type SqlWork, type Statement } from './sql.ts'

/** How many rows `list` reads at once. */
const PAGE_SIZE = 100

interface Row {
  readonly generation: number
  readonly app: string
  readonly user: string
  readonly key: string
  readonly sealed: Uint8Array
}

type KeyColumns = readonly [app: string, user: string, key: string]

const OF_KEY = 'app = ? AND "user" = ? AND key = ?'
const COLUMNS = 'generation, app, "user", key, sealed'
const IN_PAGE = `ORDER BY generation LIMIT ${PAGE_SIZE}`
const LOAD = query(`SELECT generation, sealed FROM toolwright_credentials WHERE ${OF_KEY}`)
const INSERT = query(
  `INSERT INTO toolwright_credentials (app, "user", key, sealed) VALUES (?, ?, ?, ?)
   ON CONFLICT (app, "user", key) DO NOTHING RETURNING generation`,
)
const DELETE = command(`DELETE FROM toolwright_credentials WHERE ${OF_KEY}`)
const DELETE_GENERATION = command(`DELETE FROM toolwright_credentials WHERE ${OF_KEY} AND generation = ?`)
const PAGE = query(`SELECT ${COLUMNS} FROM toolwright_credentials WHERE generation > ? ${IN_PAGE}`)
const PAGE_OF_USER = query(
  `SELECT ${COLUMNS} FROM toolwright_credentials WHERE generation > ? AND app = ? AND "user" = ? ${IN_PAGE}`,
)
const REPLACE = command(`UPDATE toolwright_credentials SET sealed = ? WHERE ${OF_KEY} AND generation = ?`)

/** Stores encrypted credentials in a SQL database. */
export class SqlCredentialStore implements SealedCredentialStore {
  readonly #database: SqlDatabase
  readonly #lock: Statement

  constructor(database: SqlDatabase) {
    this.#database = database
    this.#lock = query(`SELECT generation FROM toolwright_credentials WHERE ${OF_KEY}${database.dialect.forUpdate}`)
  }

  /** Loads a credential. */
  async load(key: CredentialKey): Promise<SealedCredential | undefined> {
    const columns = rowKey(key)
    const [row] = (await this.#database.readOne(LOAD, ...columns)) as unknown as Row[]
    return row && { sealed: row.sealed, generation: row.generation }
  }

  /** Saves a credential and returns its new generation. */
  async save(
    options: CredentialKey & { sealed: Uint8Array; expectedGeneration?: number | undefined },
  ): Promise<number> {
    const { key, sealed, expectedGeneration } = options
    const columns = rowKey(options)
    return await this.#database.write(() => this.#save(columns, sealed, { key, expectedGeneration }))
  }

  *#save(
    columns: KeyColumns,
    sealed: Uint8Array,
    { key, expectedGeneration }: { key: string; expectedGeneration: number | undefined },
  ): SqlWork<number> {
    for (;;) {
      const stored = (yield* rowOf(this.#lock, ...columns))?.generation as number | undefined
      if (expectedGeneration !== undefined && expectedGeneration !== (stored ?? 0))
        throw staleCredential(key, expectedGeneration, stored ?? 0)
      // The replaced row is deleted, so that the new row gets a new generation. Only the row that was compared: another process may
      // have saved one meanwhile.
      if (stored !== undefined) yield* changesOf(DELETE_GENERATION, ...columns, stored)
      const inserted = yield* rowOf(INSERT, ...columns, sealed)
      if (inserted) return inserted.generation as number
    }
  }

  /** Deletes a credential, or one generation of it. */
  async delete(options: CredentialKey & { expectedGeneration?: number | undefined }): Promise<boolean> {
    const { expectedGeneration } = options
    const columns = rowKey(options)
    if (expectedGeneration === undefined) return (await this.#database.write(() => changesOf(DELETE, ...columns))) > 0
    if (!Number.isSafeInteger(expectedGeneration)) return false
    return (await this.#database.write(() => changesOf(DELETE_GENERATION, ...columns, expectedGeneration))) > 0
  }

  /** Lists all credentials by generation, or those of a user, a page at a time. */
  async *list(user?: Omit<CredentialKey, 'key'>): AsyncGenerator<CredentialKey & SealedCredential, void> {
    const owner = user && ([toText(user.appName), toText(user.userId)] as const)
    let rows: Row[]
    let last = 0
    do {
      const page = owner ? this.#database.readOne(PAGE_OF_USER, last, ...owner) : this.#database.readOne(PAGE, last)
      rows = (await page) as unknown as Row[]
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
    return (await this.#database.write(() => changesOf(REPLACE, sealed, ...columns, generation))) > 0
  }

  /** Are there any credentials? */
  async hasCredentials(): Promise<boolean> {
    return (await this.#database.readOne(PAGE, 0)).length > 0
  }
}

function rowKey({ appName, userId, key }: CredentialKey): KeyColumns {
  return [toText(appName), toText(userId), toText(key)]
}

/** Decodes an id. A damaged one is returned as it is, so that the credential is reported as one that cannot be decrypted. */
function toId(text: string): string {
  const id = tryFromJson(`"${text}"`)
  return typeof id === 'string' ? id : text
}
