import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../core/error/error.ts'
import { UsageError } from '../terminal.ts'

/** A session with what makes it special. */
export interface SessionFigure {
  /** The app. */
  readonly app: string
  /** The user. */
  readonly user: string
  /** The session. */
  readonly session: string
  /** When it last changed. */
  readonly changedAt: string
  /** The entries of its log. */
  readonly entries: number
  /** The bytes of its log. */
  readonly bytes: number
}

/** What a SQLite file holds. */
export interface StoreStats {
  /** The bytes of the file and its write-ahead log. */
  readonly fileBytes: number
  /** Bytes of the file that nothing uses. `VACUUM` gives them back. */
  readonly freeBytes: number
  /** Sessions and users, by app. */
  readonly apps: readonly { readonly app: string; readonly sessions: number; readonly users: number }[]
  /** The number of sessions. */
  readonly sessions: number
  /** The number of log entries, and their bytes. */
  readonly log: { readonly entries: number; readonly bytes: number }
  /** The number of versions of artifacts, and their bytes. */
  readonly artifacts: { readonly versions: number; readonly bytes: number }
  /** The number of pending requests. */
  readonly pending: number
  /** The sessions that have not changed for the longest time. */
  readonly oldest: readonly SessionFigure[]
  /** The sessions with the largest logs. */
  readonly largest: readonly SessionFigure[]
}

/** Not an unfinished copy: no app has such a name. */
const IS_SESSION = `app NOT LIKE '"%'`
const SESSION = `SELECT app, user, sessions.session AS session, updated_at, seq AS entries,
  (SELECT coalesce(sum(octet_length(body)), 0) FROM toolwright_entries AS entries WHERE entries.session = sessions.id) AS bytes
  FROM toolwright_sessions AS sessions WHERE ${IS_SESSION}`

/** Reads what a SQLite file holds, in one snapshot. Changes nothing. `top`: how many of the oldest and the largest sessions. */
export function readStats(file: string, top: number): StoreStats {
  if (!existsSync(file)) throw new UsageError(`"${file}" does not exist. Pass the SQLite file of a store.`)
  const connection = new DatabaseSync(file, { readOnly: true })
  try {
    connection.exec('BEGIN')
    return statsOf(connection, file, top)
  } catch (error) {
    throw new Error(`"${file}" cannot be read as a store of toolwright: ${messageOf(error)}`, { cause: error })
  } finally {
    connection.close()
  }
}

function statsOf(connection: DatabaseSync, file: string, top: number): StoreStats {
  const one = (sql: string): Record<string, number> => connection.prepare(sql).get() as Record<string, number> // each statement returns one row of numbers
  const sessions = (order: string): SessionFigure[] =>
    connection.prepare(`${SESSION} ORDER BY ${order} LIMIT ?`).all(top).map(toFigure)
  const apps = connection
    .prepare(
      `SELECT app, count(*) AS sessions, count(DISTINCT user) AS users FROM toolwright_sessions
       WHERE ${IS_SESSION} GROUP BY app ORDER BY app`,
    )
    .all()
    .map((row) => ({ app: toId(row.app), sessions: Number(row.sessions), users: Number(row.users) }))
  const log = one('SELECT count(*) AS entries, coalesce(sum(octet_length(body)), 0) AS bytes FROM toolwright_entries')
  const artifacts = one(
    `SELECT count(*) AS versions, coalesce(sum(octet_length(part) + coalesce(length(bytes), 0)), 0) AS bytes
     FROM toolwright_artifacts`,
  )
  const pageBytes = one('PRAGMA page_size').page_size ?? 0
  return {
    fileBytes: sizeOf(file) + sizeOf(`${file}-wal`),
    freeBytes: (one('PRAGMA freelist_count').freelist_count ?? 0) * pageBytes,
    apps,
    sessions: apps.reduce((sum, app) => sum + app.sessions, 0),
    log: { entries: log.entries ?? 0, bytes: log.bytes ?? 0 },
    artifacts: { versions: artifacts.versions ?? 0, bytes: artifacts.bytes ?? 0 },
    pending: one('SELECT count(*) AS count FROM toolwright_pending').count ?? 0,
    oldest: sessions('updated_at, id'),
    largest: sessions('bytes DESC, id'),
  }
}

function toFigure(row: Record<string, unknown>): SessionFigure {
  return {
    app: toId(row.app),
    user: toId(row.user),
    session: toId(row.session),
    changedAt: new Date(Number(row.updated_at)).toISOString(),
    entries: Number(row.entries),
    bytes: Number(row.bytes),
  }
}

/** Ids are stored with JSON escapes. A damaged one is shown as it is. */
function toId(text: unknown): string {
  try {
    return JSON.parse(`"${String(text)}"`)
  } catch {
    return String(text)
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
