import { tryFromJson } from './escaped-text.ts'
import { query, rowOf, rowsOf, type SqlRow, type SqlWork, type Statement } from './sql.ts'

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

/** What the tables of a store hold. */
export interface TableStats {
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
const SESSION = `SELECT app, "user", sessions.session AS session, updated_at, seq AS entries,
  (SELECT coalesce(sum(octet_length(body)), 0) FROM toolwright_entries AS entries WHERE entries.session = sessions.id) AS bytes
  FROM toolwright_sessions AS sessions WHERE ${IS_SESSION}`

const APPS = query(
  `SELECT app, count(*) AS sessions, count(DISTINCT "user") AS users FROM toolwright_sessions
   WHERE ${IS_SESSION} GROUP BY app ORDER BY app`,
)
const LOG = query('SELECT count(*) AS count, coalesce(sum(octet_length(body)), 0) AS bytes FROM toolwright_entries')
const ARTIFACTS = query(
  `SELECT count(*) AS count, coalesce(sum(octet_length(part) + coalesce(octet_length(bytes), 0)), 0) AS bytes
   FROM toolwright_artifacts`,
)
const PENDING = query('SELECT count(*) AS count FROM toolwright_pending')
const OLDEST = query(`${SESSION} ORDER BY updated_at, id LIMIT ?`)
const LARGEST = query(`${SESSION} ORDER BY bytes DESC, id LIMIT ?`)

/** Reads what a store holds. `top`: how many of the oldest and the largest sessions. */
export function* readTableStats(top: number): SqlWork<TableStats> {
  const apps = (yield* rowsOf(APPS)).map((row) => ({
    app: toId(row.app),
    sessions: Number(row.sessions),
    users: Number(row.users),
  }))
  const log = yield* countOf(LOG)
  const artifacts = yield* countOf(ARTIFACTS)
  return {
    apps,
    sessions: apps.reduce((sum, app) => sum + app.sessions, 0),
    log: { entries: log.count, bytes: log.bytes },
    artifacts: { versions: artifacts.count, bytes: artifacts.bytes },
    pending: (yield* countOf(PENDING)).count,
    oldest: (yield* rowsOf(OLDEST, top)).map(toFigure),
    largest: (yield* rowsOf(LARGEST, top)).map(toFigure),
  }
}

function* countOf(statement: Statement): SqlWork<{ readonly count: number; readonly bytes: number }> {
  const row = yield* rowOf(statement)
  return { count: Number(row?.count), bytes: Number(row?.bytes) }
}

function toFigure(row: SqlRow): SessionFigure {
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
  const id = tryFromJson(`"${String(text)}"`)
  return typeof id === 'string' ? id : String(text)
}
