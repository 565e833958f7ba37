import type { StatementSync } from 'node:sqlite'
import { isRecord } from '../../core/base/json.ts'
import { isUserFilename } from '../../core/base/key-scope.ts'
import type { Part } from '../../core/content/content.ts'
import { checkFilename, checkNewFilename, checkPart } from '../../services/artifact/check-artifact.ts'
import { mimeTypeOf } from '../../services/artifact/mime-type.ts'
import type { ArtifactKey, ArtifactService, ArtifactVersion } from '../../services/artifact/service.ts'
import { checkKey } from '../../services/session/check-key.ts'
import { readPagePosition, takePage } from '../../services/session/page.ts'
import type { Page, PageOptions, SessionKey } from '../../services/session/service.ts'
import { decodePart, encodePart, type PartRow } from './artifact-encoding.ts'
import type { Database } from './database.ts'
import { fromJson, fromText, toJson, toText } from './escaped-text.ts'
import { LARGE_BYTES, sizeOfParts } from './large-parts.ts'
import { damaged } from './storage-error.ts'

interface VersionRow {
  readonly version: number
  readonly mime_type: string | null
  readonly created_at: number
  readonly metadata: string | null
}

/** Stores artifacts in a SQLite file. */
export class SqliteArtifactService implements ArtifactService {
  readonly #database: Database
  readonly #now: () => number
  readonly #insert: StatementSync
  readonly #load: StatementSync
  readonly #names: StatementSync
  readonly #namesAfter: StatementSync
  readonly #delete: StatementSync
  readonly #numbers: StatementSync
  readonly #versions: StatementSync
  readonly #versionsAfter: StatementSync
  readonly #version: StatementSync

  constructor(database: Database, options: { readonly now: () => number }) {
    const ofFile = 'app = ? AND user = ? AND session = ? AND filename = ?'
    const ofVersion = `${ofFile} AND version = coalesce(?, version) ORDER BY version DESC LIMIT 1`
    const described = 'version, mime_type, created_at, metadata'
    this.#database = database
    this.#now = options.now
    this.#insert = database.prepare(
      `INSERT INTO toolwright_artifacts (app, user, session, filename, version, mime_type, created_at, metadata, part, bytes)
       VALUES (?, ?, ?, ?, (SELECT coalesce(max(version) + 1, 0) FROM toolwright_artifacts WHERE ${ofFile}), ?, ?, ?, ?, ?)
       RETURNING version`,
    )
    this.#load = database.prepare(`SELECT part, bytes FROM toolwright_artifacts WHERE ${ofVersion}`)
    const names = "SELECT DISTINCT filename FROM toolwright_artifacts WHERE app = ? AND user = ? AND session IN (?, '')"
    this.#names = database.prepare(names)
    this.#namesAfter = database.prepare(`${names} AND filename > ? ORDER BY filename LIMIT ?`)
    this.#delete = database.prepare(`DELETE FROM toolwright_artifacts WHERE ${ofFile}`)
    this.#numbers = database.prepare(`SELECT version FROM toolwright_artifacts WHERE ${ofFile} ORDER BY version`)
    this.#versionsAfter = database.prepare(
      `SELECT ${described} FROM toolwright_artifacts WHERE ${ofFile} AND version >= ? ORDER BY version LIMIT ?`,
    )
    this.#versions = database.prepare(`SELECT ${described} FROM toolwright_artifacts WHERE ${ofFile} ORDER BY version`)
    this.#version = database.prepare(`SELECT ${described} FROM toolwright_artifacts WHERE ${ofVersion}`)
  }

  /** Stores a new version of an artifact and returns its number. */
  async saveArtifact(options: Parameters<ArtifactService['saveArtifact']>[0]): Promise<number> {
    const { artifact, customMetadata } = options
    const columns = rowKey(options)
    checkPart(artifact)
    checkNewFilename(options.filename)
    const metadata = customMetadata ? toJson(customMetadata, 'The metadata of an artifact') : null
    const mimeType = mimeTypeOf(artifact)
    const save = (): Promise<number> => {
      const { part, bytes } = encodePart(artifact)
      const values = [mimeType === undefined ? null : toText(mimeType), this.#now() / 1000, metadata, part, bytes]
      return this.#database.write(() => this.#insert.get(...columns, ...columns, ...values)?.version as number)
    }
    return await (sizeOfParts([artifact]) > LARGE_BYTES ? this.#database.inTurn(options, save) : save())
  }

  /** Loads a version of an artifact; default: the latest. */
  async loadArtifact(options: ArtifactKey & { version?: number | undefined }): Promise<Part | undefined> {
    const row = (await this.#getVersionRow(this.#load, options)) as PartRow | undefined
    return row && decodePart(row)
  }

  /** Lists the filenames of a session and of its user. */
  async listArtifactKeys(options: SessionKey): Promise<string[]> {
    const columns = rowKey({ ...options, filename: '' }).slice(0, 3)
    const rows = await this.#database.read(() => this.#names.all(...columns))
    return rows.map(({ filename }) => fromText(filename, 'The name of an artifact')).sort()
  }

  /** Lists a part of the filenames. */
  async listArtifactPage(options: SessionKey & PageOptions): Promise<Page<string>> {
    const { after = '', limit } = options
    readPagePosition({ limit })
    const columns = [...rowKey({ ...options, filename: '' }).slice(0, 3), toText(after)]
    const rows = await this.#database.read(() => this.#namesAfter.all(...columns, limit + 1))
    const items = rows.slice(0, limit).map(({ filename }) => fromText(filename, 'The name of an artifact'))
    return items.length < rows.length ? { items, next: items.at(-1) as string } : { items }
  }

  /** Deletes all versions of an artifact. */
  async deleteArtifact(key: ArtifactKey): Promise<void> {
    const columns = rowKey(key)
    await this.#database.write(() => this.#delete.run(...columns))
  }

  /** Lists the version numbers of an artifact, oldest first. */
  async listVersions(key: ArtifactKey): Promise<number[]> {
    const columns = rowKey(key)
    return await this.#database.read(() => this.#numbers.all(...columns).map(({ version }) => version as number))
  }

  /** Lists a part of the versions with their metadata. */
  async listVersionPage(options: ArtifactKey & PageOptions): Promise<Page<ArtifactVersion>> {
    const columns = rowKey(options)
    const from = readPagePosition(options)
    const rows = await this.#database.read(() => this.#versionsAfter.all(...columns, from, options.limit + 1))
    return takePage(rows as unknown[] as VersionRow[], options, (row) => {
      return { item: toArtifactVersion(row), position: row.version + 1, bytes: row.metadata?.length ?? 0 }
    })
  }

  /** Lists the versions of an artifact with their metadata. */
  async listArtifactVersions(key: ArtifactKey): Promise<ArtifactVersion[]> {
    return (await this.#listRows(key)).map(toArtifactVersion)
  }

  /** Returns the metadata of a version; default: the latest. */
  async getArtifactVersion(
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<ArtifactVersion | undefined> {
    const row = (await this.#getVersionRow(this.#version, options)) as VersionRow | undefined
    return row && toArtifactVersion(row)
  }

  async #listRows(key: ArtifactKey): Promise<VersionRow[]> {
    const columns = rowKey(key)
    return await this.#database.read(() => this.#versions.all(...columns) as unknown[] as VersionRow[])
  }

  /** Selects a version, or the latest one. */
  async #getVersionRow(
    statement: StatementSync,
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<unknown> {
    const { version } = options
    const columns = rowKey(options)
    if (version !== undefined && !Number.isSafeInteger(version)) return undefined
    return await this.#database.read(() => statement.get(...columns, version ?? null))
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
