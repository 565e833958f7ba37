import { isRecord } from '../../core/base/json.ts'
import { isUserFilename } from '../../core/base/key-scope.ts'
import type { Part } from '../../core/content/content.ts'
import { checkFilename, checkNewArtifactKey, checkPart } from '../artifact/check-artifact.ts'
import { mimeTypeOf } from '../artifact/mime-type.ts'
import type { ArtifactKey, ArtifactService, ArtifactVersion } from '../artifact/service.ts'
import { checkKey, checkUser } from '../session/check-key.ts'
import { readPagePosition, takePage } from '../session/page.ts'
import type { Page, PageOptions, SessionKey } from '../session/service.ts'
import { decodePart, encodePart, type PartRow } from './artifact-encoding.ts'
import { damaged } from './damaged.ts'
import { fromJson, fromText, toJson, toText } from './escaped-text.ts'
import { LARGE_BYTES, sizeOfParts } from './large-parts.ts'
import {
  changesOf,
  command,
  query,
  rowOf,
  type SqlDatabase,
  type SqlRow,
  type SqlValue,
  type SqlWork,
  type Statement,
} from './sql.ts'

interface VersionRow {
  readonly version: number
  readonly mime_type: string | null
  readonly created_at: number
  readonly metadata: string | null
}

const OF_FILE = 'app = ? AND "user" = ? AND session = ? AND filename = ?'
const OF_VERSION = `${OF_FILE} AND version = coalesce(?, version) ORDER BY version DESC LIMIT 1`
const DESCRIBED = 'version, mime_type, created_at, metadata'
const NAMES = `SELECT DISTINCT filename FROM toolwright_artifacts WHERE app = ? AND "user" = ? AND session IN (?, '')`

// A conflict: another process has saved this version at the same time.
const INSERT = query(
  `INSERT INTO toolwright_artifacts (app, "user", session, filename, version, mime_type, created_at, metadata, part, bytes)
   VALUES (?, ?, ?, ?, (SELECT coalesce(max(version) + 1, 0) FROM toolwright_artifacts WHERE ${OF_FILE}), ?, ?, ?, ?, ?)
   ON CONFLICT (app, "user", session, filename, version) DO NOTHING RETURNING version`,
)
const LOAD = query(`SELECT part, bytes FROM toolwright_artifacts WHERE ${OF_VERSION}`)
const ALL_NAMES = query(NAMES)
const NAMES_AFTER = query(`${NAMES} AND filename > ? ORDER BY filename LIMIT ?`)
const DELETE = command(`DELETE FROM toolwright_artifacts WHERE ${OF_FILE}`)
const DELETE_SESSION = command('DELETE FROM toolwright_artifacts WHERE app = ? AND "user" = ? AND session = ?')
const DELETE_USER = command('DELETE FROM toolwright_artifacts WHERE app = ? AND "user" = ?')
const NUMBERS = query(`SELECT version FROM toolwright_artifacts WHERE ${OF_FILE} ORDER BY version`)
const VERSIONS = query(`SELECT ${DESCRIBED} FROM toolwright_artifacts WHERE ${OF_FILE} ORDER BY version`)
const VERSIONS_AFTER = query(
  `SELECT ${DESCRIBED} FROM toolwright_artifacts WHERE ${OF_FILE} AND version >= ? ORDER BY version LIMIT ?`,
)
const ONE_VERSION = query(`SELECT ${DESCRIBED} FROM toolwright_artifacts WHERE ${OF_VERSION}`)

/** Stores artifacts in a SQL database. */
export class SqlArtifactService implements ArtifactService {
  readonly #database: SqlDatabase
  readonly #now: () => number

  constructor(database: SqlDatabase, options: { readonly now: () => number }) {
    this.#database = database
    this.#now = options.now
  }

  /** Stores a new version of an artifact and returns its number. */
  async saveArtifact(options: Parameters<ArtifactService['saveArtifact']>[0]): Promise<number> {
    const { artifact, customMetadata } = options
    const columns = rowKey(options)
    checkPart(artifact)
    checkNewArtifactKey(options)
    const metadata = customMetadata ? toJson(customMetadata, 'The metadata of an artifact') : null
    const mimeType = mimeTypeOf(artifact)
    const save = (): Promise<number> => {
      const { part, bytes } = encodePart(artifact)
      const values = [mimeType === undefined ? null : toText(mimeType), this.#now() / 1000, metadata, part, bytes]
      return this.#database.write(() => insertVersion([...columns, ...columns, ...values]))
    }
    return await (sizeOfParts([artifact]) > LARGE_BYTES ? this.#database.turns.take(options.userId, save) : save())
  }

  /** Loads a version of an artifact; default: the latest. */
  async loadArtifact(options: ArtifactKey & { version?: number | undefined }): Promise<Part | undefined> {
    const row = await this.#findVersion(LOAD, options)
    return row && decodePart(row as unknown as PartRow)
  }

  /** Lists the filenames of a session and of its user. */
  async listArtifactKeys(options: SessionKey): Promise<string[]> {
    const columns = rowKey({ ...options, filename: '' }).slice(0, 3)
    const rows = await this.#database.readOne(ALL_NAMES, ...columns)
    return rows.map(({ filename }) => fromText(filename, 'The name of an artifact')).sort()
  }

  /** Lists a part of the filenames. */
  async listArtifactPage(options: SessionKey & PageOptions): Promise<Page<string>> {
    const { after = '', limit } = options
    readPagePosition({ limit })
    const columns = [...rowKey({ ...options, filename: '' }).slice(0, 3), toText(after)]
    const rows = await this.#database.readOne(NAMES_AFTER, ...columns, limit + 1)
    const items = rows.slice(0, limit).map(({ filename }) => fromText(filename, 'The name of an artifact'))
    return items.length < rows.length ? { items, next: items.at(-1) as string } : { items }
  }

  /** Deletes all versions of an artifact. */
  async deleteArtifact(key: ArtifactKey): Promise<void> {
    const columns = rowKey(key)
    await this.#database.write(() => changesOf(DELETE, ...columns))
  }

  /** Deletes the artifacts of a session. Those of the user stay. */
  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    const columns = [toText(key.appName), toText(key.userId), toText(key.sessionId)]
    await this.#database.write(() => changesOf(DELETE_SESSION, ...columns))
  }

  /** Deletes all artifacts of a user. */
  async deleteUser(user: { appName: string; userId: string }): Promise<void> {
    checkUser(user)
    const columns = [toText(user.appName), toText(user.userId)]
    await this.#database.write(() => changesOf(DELETE_USER, ...columns))
  }

  /** Lists the version numbers of an artifact, oldest first. */
  async listVersions(key: ArtifactKey): Promise<number[]> {
    const columns = rowKey(key)
    return (await this.#database.readOne(NUMBERS, ...columns)).map(({ version }) => version as number)
  }

  /** Lists a part of the versions with their metadata. */
  async listVersionPage(options: ArtifactKey & PageOptions): Promise<Page<ArtifactVersion>> {
    const columns = rowKey(options)
    const from = readPagePosition(options)
    const rows = await this.#database.readOne(VERSIONS_AFTER, ...columns, from, options.limit + 1)
    return takePage(rows as unknown as VersionRow[], options, (row) => {
      return { item: toArtifactVersion(row), position: row.version + 1, bytes: row.metadata?.length ?? 0 }
    })
  }

  /** Lists the versions of an artifact with their metadata. */
  async listArtifactVersions(key: ArtifactKey): Promise<ArtifactVersion[]> {
    const rows = await this.#database.readOne(VERSIONS, ...rowKey(key))
    return (rows as unknown as VersionRow[]).map(toArtifactVersion)
  }

  /** Returns the metadata of a version; default: the latest. */
  async getArtifactVersion(
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<ArtifactVersion | undefined> {
    const row = await this.#findVersion(ONE_VERSION, options)
    return row && toArtifactVersion(row as unknown as VersionRow)
  }

  /** Selects a version, or the latest one. */
  async #findVersion(
    statement: Statement,
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<SqlRow | undefined> {
    const { version } = options
    const columns = rowKey(options)
    if (version !== undefined && !Number.isSafeInteger(version)) return undefined
    const [row] = await this.#database.readOne(statement, ...columns, version ?? null)
    return row
  }
}

/** Inserts the next version of an artifact and returns its number. */
function* insertVersion(values: readonly SqlValue[]): SqlWork<number> {
  for (;;) {
    const row = yield* rowOf(INSERT, ...values)
    if (row) return row.version as number
  }
}

function toArtifactVersion({ version, mime_type, created_at, metadata }: VersionRow): ArtifactVersion {
  const what = 'The metadata of an artifact'
  const given = metadata === null ? undefined : fromJson(metadata, what)
  if (given !== undefined && !isRecord(given)) throw damaged(what, 'it is not an object')
  return {
    version,
    createTime: created_at,
    ...(mime_type !== null && { mimeType: fromText(mime_type, what) }),
    ...(given !== undefined && { customMetadata: given }),
  }
}

/** The key columns of an artifact. A `user:` filename belongs to the user and has no session. */
function rowKey(key: ArtifactKey): [app: string, user: string, session: string, filename: string] {
  checkKey(key)
  const { appName, userId, sessionId, filename } = key
  checkFilename(filename)
  const session = isUserFilename(filename) ? '' : toText(sessionId)
  return [toText(appName), toText(userId), session, toText(filename)]
}
