import type { StatementSync } from 'node:sqlite'
import { checkFilename, checkPart } from '../artifact/check-artifact.ts'
import { mimeTypeOf } from '../artifact/mime-type.ts'
import type { ArtifactKey, ArtifactService, ArtifactVersion } from '../artifact/service.ts'
import { isRecord } from '../base/json.ts'
import { isUserFilename } from '../base/key-scope.ts'
import type { Part } from '../content/content.ts'
import { checkKey } from '../session/check-key.ts'
import type { SessionKey } from '../session/service.ts'
import { fromRow, type PartRow, toRow } from './artifact-part.ts'
import type { Database } from './database.ts'
import { damaged } from './storage-error.ts'
import { fromJson, fromText, toJson, toText } from './text.ts'

interface VersionRow {
  readonly version: number
  readonly mime_type: string | null
  readonly created_at: number
  readonly metadata: string | null
}

/** Artifacts in a SQLite file, with the sessions they belong to. */
export class SqliteArtifactService implements ArtifactService {
  readonly #database: Database
  readonly #now: () => number
  readonly #insert: StatementSync
  readonly #load: StatementSync
  readonly #names: StatementSync
  readonly #delete: StatementSync
  readonly #versions: StatementSync
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
    this.#names = database.prepare(
      "SELECT DISTINCT filename FROM toolwright_artifacts WHERE app = ? AND user = ? AND session IN (?, '')",
    )
    this.#delete = database.prepare(`DELETE FROM toolwright_artifacts WHERE ${ofFile}`)
    this.#versions = database.prepare(`SELECT ${described} FROM toolwright_artifacts WHERE ${ofFile} ORDER BY version`)
    this.#version = database.prepare(`SELECT ${described} FROM toolwright_artifacts WHERE ${ofVersion}`)
  }

  async saveArtifact(options: Parameters<ArtifactService['saveArtifact']>[0]): Promise<number> {
    const { artifact, customMetadata } = options
    const place = placeOf(options)
    checkPart(artifact)
    const metadata = customMetadata ? toJson(customMetadata, 'The metadata of an artifact') : null
    const { part, bytes } = toRow(artifact)
    const mimeType = mimeTypeOf(artifact)
    const values = [mimeType === undefined ? null : toText(mimeType), this.#now() / 1000, metadata, part, bytes]
    return await this.#database.write(() => this.#insert.get(...place, ...place, ...values)?.version as number)
  }

  async loadArtifact(options: ArtifactKey & { version?: number | undefined }): Promise<Part | undefined> {
    const row = (await this.#pick(this.#load, options)) as PartRow | undefined
    return row && fromRow(row)
  }

  async listArtifactKeys(options: SessionKey): Promise<string[]> {
    const place = placeOf({ ...options, filename: '' }).slice(0, 3)
    const rows = await this.#database.read(() => this.#names.all(...place))
    return rows.map(({ filename }) => fromText(filename, 'The name of an artifact')).sort()
  }

  async deleteArtifact(key: ArtifactKey): Promise<void> {
    const place = placeOf(key)
    await this.#database.write(() => this.#delete.run(...place))
  }

  async listVersions(key: ArtifactKey): Promise<number[]> {
    return (await this.#rows(key)).map(({ version }) => version)
  }

  async listArtifactVersions(key: ArtifactKey): Promise<ArtifactVersion[]> {
    return (await this.#rows(key)).map(describe)
  }

  async getArtifactVersion(
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<ArtifactVersion | undefined> {
    const row = (await this.#pick(this.#version, options)) as VersionRow | undefined
    return row && describe(row)
  }

  async #rows(key: ArtifactKey): Promise<VersionRow[]> {
    const place = placeOf(key)
    return await this.#database.read(() => this.#versions.all(...place) as unknown[] as VersionRow[])
  }

  /** A version, or the latest. */
  async #pick(statement: StatementSync, options: ArtifactKey & { version?: number | undefined }): Promise<unknown> {
    const { version } = options
    const place = placeOf(options)
    if (version !== undefined && !Number.isSafeInteger(version)) return undefined
    return await this.#database.read(() => statement.get(...place, version ?? null))
  }
}

function describe({ version, mime_type, created_at, metadata }: VersionRow): ArtifactVersion {
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

/** Where a file is: with its session, or with its user. */
function placeOf(key: ArtifactKey): [app: string, user: string, session: string, filename: string] {
  checkKey(key)
  const { appName, userId, sessionId, filename } = key
  checkFilename(filename)
  const session = isUserFilename(filename) ? '' : toText(sessionId)
  return [toText(appName), toText(userId), session, toText(filename)]
}
