// Finds sessions of an app, of all users or of one, with the state they are in. No log, state or request is read.
import { readPagePosition, takePage } from '../session/page.ts'
import type { FoundSession, Page, PageOptions, SessionFilter } from '../session/service.ts'
import { toText } from './escaped-text.ts'
import type { LeaseRows } from './lease-rows.ts'
import { checkRow, keyOf, type SessionRow, STORED_COLUMNS } from './session-row.ts'
import { FREE } from './session-rows.ts'
import { query, rowsOf, type SqlDatabase, type SqlRow, type SqlWork, type Statement } from './sql.ts'

const ITEMS = 'SELECT 1 FROM toolwright_inbox WHERE session = sessions.id AND body IS NOT NULL'
const REQUESTS = 'SELECT 1 FROM toolwright_pending WHERE session = sessions.id'

/** Finds sessions. */
export class SessionFinding {
  readonly #database: SqlDatabase
  readonly #leases: LeaseRows
  readonly #ofApp: Statement
  readonly #ofUser: Statement

  constructor(database: SqlDatabase, leases: LeaseRows) {
    this.#database = database
    this.#leases = leases
    const marks = [
      [ITEMS, 'has_items'],
      [REQUESTS, 'has_requests'],
    ].map(([rows, name]) => `CASE WHEN EXISTS (${rows}) THEN 1 ELSE 0 END AS ${name}`)
    const columns = `${STORED_COLUMNS}, ${database.dialect.leaseTime} AS lease_now, ${marks.join(', ')}`
    const ofApp = `SELECT ${columns} FROM toolwright_sessions AS sessions WHERE app = ? AND updated_at >= ? AND id < ?`
    this.#ofApp = query(`${ofApp} ORDER BY id DESC LIMIT ?`)
    this.#ofUser = query(`${ofApp} AND "user" = ? ORDER BY id DESC LIMIT ?`)
  }

  /** A part of the sessions, the newest first. */
  *page(filter: SessionFilter & PageOptions): SqlWork<Page<FoundSession>> {
    const { appName, userId, updatedSince = 0, limit } = filter
    const before = readPagePosition(filter) || Number.MAX_SAFE_INTEGER
    const from = [this.#database.leaseTime(), toText(appName), updatedSince, before]
    const rows =
      userId === undefined
        ? rowsOf(this.#ofApp, ...from, limit + 1)
        : rowsOf(this.#ofUser, ...from, toText(userId), limit + 1)
    return takePage(yield* rows, filter, (given) => {
      const row = checkRow(given)
      const item = { ...keyOf(row), updatedAt: row.updated_at, lastSeq: row.seq, state: this.#stateOf(row, given) }
      return { item, position: row.id, bytes: 0 }
    })
  }

  #stateOf(row: SessionRow, { has_items, has_requests }: SqlRow): FoundSession['state'] {
    if (row.epoch !== FREE) return this.#leases.isAlive(row) ? 'running' : 'interrupted'
    if (row.set_aside !== null) return 'setAside'
    if (Number(has_items) > 0) return 'posted'
    return Number(has_requests) > 0 ? 'waiting' : 'idle'
  }
}
