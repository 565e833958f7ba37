import { ToolwrightError } from '../../core/error/error.ts'
import { expiryOf, type PendingRequest } from '../../core/event/pending-request.ts'
import { readPagePosition } from '../session/page.ts'
import type { Page, PageOptions, PendingChanges, PendingSummary, SessionKey } from '../session/service.ts'
import { checkPendingRequest, findPendingProblem } from '../session/storable-entry.ts'
import { toJson, toText, tryFromJson } from './escaped-text.ts'
import type { ReportDamage } from './report-skipped-rows.ts'
import { countRowsWithin } from './rows-within.ts'
import { keyOf, type RowOwner } from './session-row.ts'
import { changesOf, command, query, rowOf, rowsOf, type SqlRow, type SqlWork, type Statement } from './sql.ts'

/** The most requests that are read at a time. */
const MAX_PIECE_ROWS = 1_000

/** A pending request as columns. */
interface EncodedRequest {
  /** Id of the request. */
  readonly id: string
  /** Creation time in seconds since 1970. Processes with schema version 1 sort by it. */
  readonly since: number
  /** When it expires, in milliseconds since 1970. */
  readonly expires: number
  /** The request as JSON. */
  readonly body: string
}

/** Changes of the requests of a session. */
export interface EncodedChanges extends Pick<PendingChanges, 'closed'> {
  /** Requests that are pending from now on. */
  readonly opened: readonly EncodedRequest[]
}

/** The expiry of a request that does not expire. */
const NEVER = 8.64e15

/** How many requests of processes of an earlier version get their expiry at once. */
const MAX_UNKNOWN = 500

// CROSS JOIN starts with the few pending requests, not with all sessions
const OF_APP = `FROM toolwright_pending AS pending CROSS JOIN toolwright_sessions AS sessions
  WHERE sessions.id = pending.session AND app = ?`
const COLUMNS = 'pending.id AS id, sessions.session AS session, body'

/** The statements for one kind of filter: a database plans worse for `"user" = coalesce(?, "user")`. Sorted by row id, because clocks may be set back. */
class FilteredStatements {
  readonly find: Statement
  readonly page: Statement
  readonly sizes: Statement
  readonly summary: Statement

  constructor(conditions: string) {
    const matching = `${OF_APP}${conditions}`
    const part = `${matching} AND pending.id > ? ORDER BY pending.id LIMIT ?`
    this.find = query(`SELECT ${COLUMNS} ${matching} ORDER BY pending.id`)
    this.page = query(`SELECT ${COLUMNS} ${part}`)
    this.sizes = query(`SELECT pending.id AS id, octet_length(body) AS bytes ${part}`)
    this.summary = query(`SELECT count(*) AS count, coalesce(max(pending.id), 0) AS newest ${matching}`)
  }
}

/** An index of the pending requests of all sessions. The log of a session stays the source of truth. */
export class PendingRows {
  readonly #reportDamage: ReportDamage
  readonly #ofSession: Statement = query('SELECT id, body FROM toolwright_pending WHERE session = ?')
  readonly #delete: Statement = command('DELETE FROM toolwright_pending WHERE id = ?')
  readonly #update: Statement = command('UPDATE toolwright_pending SET body = ?, expires = ? WHERE id = ?')
  readonly #insert: Statement = command(
    'INSERT INTO toolwright_pending (session, since, body, expires) VALUES (?, ?, ?, ?)',
  )
  readonly #ofApp: FilteredStatements = new FilteredStatements('')
  readonly #ofUser: FilteredStatements = new FilteredStatements(' AND "user" = ?')
  readonly #ofSessionId: FilteredStatements = new FilteredStatements(' AND sessions.session = ?')
  readonly #ofBoth: FilteredStatements = new FilteredStatements(' AND "user" = ? AND sessions.session = ?')
  readonly #overdue: Statement = query(
    `SELECT DISTINCT app, "user", sessions.session AS session ${OF_APP} AND expires <= ? LIMIT ?`,
  )
  readonly #unknown: Statement = query(`SELECT id, body FROM toolwright_pending WHERE expires IS NULL LIMIT ?`)
  readonly #setExpiry: Statement = command('UPDATE toolwright_pending SET expires = ? WHERE id = ? AND expires IS NULL')

  constructor(reportDamage: ReportDamage) {
    this.#reportDamage = reportDamage
  }

  /** Changes the requests of a session. A known request keeps its row and its position. */
  *change(session: number, { opened, closed }: EncodedChanges): SqlWork<void> {
    const known = new Map<string, number>()
    const openedIds = new Set(opened.map(({ id }) => id))
    const isClosed = (id: string): boolean => closed === 'all' || closed.includes(id)
    for (const { id: row, body } of yield* rowsOf(this.#ofSession, session)) {
      const request = decodeRequest(body)
      const isOpened = request !== undefined && openedIds.has(request.id) && !known.has(request.id)
      if (isOpened) known.set(request.id, Number(row))
      else if (!request ? closed === 'all' : openedIds.has(request.id) || isClosed(request.id))
        yield* changesOf(this.#delete, Number(row))
    }
    for (const { id, since, body, expires } of opened) {
      const row = known.get(id)
      if (row === undefined) yield* changesOf(this.#insert, session, since, body, expires)
      else yield* changesOf(this.#update, body, expires, row)
    }
  }

  /** The sessions with a request that has expired. */
  *overdue({ appName, now, limit }: OverdueFilter): SqlWork<SessionKey[]> {
    const rows = yield* rowsOf(this.#overdue, toText(appName), now, limit)
    return (rows as unknown[] as RowOwner[]).map(keyOf)
  }

  /** Are there requests without an expiry? Processes of an earlier version store them so. */
  *hasUnknown(): SqlWork<boolean> {
    return (yield* rowOf(this.#unknown, 1)) !== undefined
  }

  /** Gives some requests of processes of an earlier version their expiry. */
  *addExpiry(): SqlWork<void> {
    for (const { id, body } of yield* rowsOf(this.#unknown, MAX_UNKNOWN)) {
      const request = decodeRequest(body)
      yield* changesOf(this.#setExpiry, request ? storedExpiry(request) : NEVER, Number(id))
    }
  }

  /**
   * Finds pending requests. A damaged request is reported and skipped, so that it does not hide requests of other sessions.
   * A search in its own session throws, so that the session does not look like one without pending requests.
   */
  *find(filter: Filter): SqlWork<PendingRequest[]> {
    return (yield* rowsOf(this.#statementsFor(filter).find, ...columnsOf(filter))).flatMap(
      (row) => this.#decode(row, filter) ?? [],
    )
  }

  /** A part of the requests. Bodies after it are not read. */
  *page(filter: Filter & PageOptions): SqlWork<Page<PendingRequest>> {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = filter
    const statements = this.#statementsFor(filter)
    const from = [...columnsOf(filter), readPagePosition(filter)] as const
    const sizes = yield* rowsOf(statements.sizes, ...from, Math.min(limit, MAX_PIECE_ROWS) + 1)
    const count = Math.min(countRowsWithin(sizes, maxBytes), limit, MAX_PIECE_ROWS)
    const items = (yield* rowsOf(statements.page, ...from, count)).flatMap((row) => this.#decode(row, filter) ?? [])
    return count < sizes.length ? { items, next: String(sizes[count - 1]?.id) } : { items }
  }

  /** Counts requests. Their bodies are not read. */
  *summary(filter: Filter): SqlWork<PendingSummary> {
    const { count, newest } = (yield* rowOf(this.#statementsFor(filter).summary, ...columnsOf(filter))) ?? {}
    return { count: Number(count), newest: Number(newest) }
  }

  #statementsFor({ userId, sessionId }: Filter): FilteredStatements {
    if (userId === undefined) return sessionId === undefined ? this.#ofApp : this.#ofSessionId
    return sessionId === undefined ? this.#ofUser : this.#ofBoth
  }

  #decode(row: SqlRow, { sessionId }: Filter): PendingRequest | undefined {
    const request = decodeRequest(row.body)
    if (request) return request
    const what = `A pending request of session "${String(row.session)}"`
    if (sessionId !== undefined) {
      const repair = 'Resume the session to restore its requests from the log.'
      throw new ToolwrightError('STORAGE', `${what} is damaged in the database. ${repair}`)
    }
    this.#reportDamage(what)
    return undefined
  }
}

function columnsOf({ appName, userId, sessionId }: Filter): string[] {
  return [appName, userId, sessionId].filter((id) => id !== undefined).map(toText)
}

/** Infinity is no number for every database. */
function storedExpiry(request: PendingRequest): number {
  return Math.min(expiryOf(request), NEVER)
}

/** Decodes a request; undefined when the row is damaged. */
function decodeRequest(body: unknown): PendingRequest | undefined {
  const request = tryFromJson(body)
  return findPendingProblem(request) === undefined ? (request as PendingRequest) : undefined
}

interface OverdueFilter {
  readonly appName: string
  readonly now: number
  readonly limit: number
}

interface Filter {
  readonly appName: string
  readonly userId?: string | undefined
  readonly sessionId?: string | undefined
}

/** Encodes changes. A request without a creation time gets the current time. */
export function encodeChanges({ opened, closed }: PendingChanges, now: number): EncodedChanges {
  const encoded = opened.map((request) => ({
    id: checkPendingRequest(request).id,
    since: request.createdAt ?? now / 1000,
    expires: storedExpiry(request),
    body: toJson(request, 'A pending request'),
  }))
  return { opened: encoded, closed: closed === 'all' ? closed : closed.slice() }
}
