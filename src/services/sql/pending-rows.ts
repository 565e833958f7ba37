import { ToolwrightError } from '../../core/error/error.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { readPagePosition } from '../session/page.ts'
import type { Page, PageOptions, PendingChanges, PendingSummary } from '../session/service.ts'
import { checkPendingRequest, findPendingProblem } from '../session/storable-entry.ts'
import { toJson, toText, tryFromJson } from './escaped-text.ts'
import type { ReportDamage } from './report-skipped-rows.ts'
import { countRowsWithin } from './rows-within.ts'
import { changesOf, command, query, rowOf, rowsOf, type SqlRow, type SqlWork, type Statement } from './sql.ts'

/** The most requests that are read at a time. */
const MAX_PIECE_ROWS = 1_000

/** A pending request as columns. */
interface EncodedRequest {
  /** Id of the request. */
  readonly id: string
  /** Creation time in seconds since 1970. Processes with schema version 1 sort by it. */
  readonly since: number
  /** The request as JSON. */
  readonly body: string
}

/** Changes of the requests of a session. */
export interface EncodedChanges extends Pick<PendingChanges, 'closed'> {
  /** Requests that are pending from now on. */
  readonly opened: readonly EncodedRequest[]
}

// CROSS JOIN starts with the few pending requests, not with all sessions; sorted by row id, because clocks may be set back
const MATCHING = `FROM toolwright_pending AS pending CROSS JOIN toolwright_sessions AS sessions
  WHERE sessions.id = pending.session
    AND app = ? AND "user" = coalesce(?, "user") AND sessions.session = coalesce(?, sessions.session)`
const PART = `${MATCHING} AND pending.id > ? ORDER BY pending.id LIMIT ?`
const COLUMNS = 'pending.id AS id, sessions.session AS session, body'

/** An index of the pending requests of all sessions. The log of a session stays the source of truth. */
export class PendingRows {
  readonly #reportDamage: ReportDamage
  readonly #ofSession: Statement = query('SELECT id, body FROM toolwright_pending WHERE session = ?')
  readonly #delete: Statement = command('DELETE FROM toolwright_pending WHERE id = ?')
  readonly #update: Statement = command('UPDATE toolwright_pending SET body = ? WHERE id = ?')
  readonly #insert: Statement = command('INSERT INTO toolwright_pending (session, since, body) VALUES (?, ?, ?)')
  readonly #find: Statement = query(`SELECT ${COLUMNS} ${MATCHING} ORDER BY pending.id`)
  readonly #page: Statement = query(`SELECT ${COLUMNS} ${PART}`)
  readonly #sizes: Statement = query(`SELECT pending.id AS id, octet_length(body) AS bytes ${PART}`)
  readonly #summary: Statement = query(`SELECT count(*) AS count, coalesce(max(pending.id), 0) AS newest ${MATCHING}`)

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
    for (const { id, since, body } of opened) {
      const row = known.get(id)
      if (row === undefined) yield* changesOf(this.#insert, session, since, body)
      else yield* changesOf(this.#update, body, row)
    }
  }

  /**
   * Finds pending requests. A damaged request is reported and skipped, so that it does not hide requests of other sessions.
   * A search in its own session throws, so that the session does not look like one without pending requests.
   */
  *find(filter: Filter): SqlWork<PendingRequest[]> {
    return (yield* rowsOf(this.#find, ...columnsOf(filter))).flatMap((row) => this.#decode(row, filter) ?? [])
  }

  /** A part of the requests. Bodies after it are not read. */
  *page(filter: Filter & PageOptions): SqlWork<Page<PendingRequest>> {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = filter
    const from = [...columnsOf(filter), readPagePosition(filter)] as const
    const sizes = yield* rowsOf(this.#sizes, ...from, Math.min(limit, MAX_PIECE_ROWS) + 1)
    const count = Math.min(countRowsWithin(sizes, maxBytes), limit, MAX_PIECE_ROWS)
    const items = (yield* rowsOf(this.#page, ...from, count)).flatMap((row) => this.#decode(row, filter) ?? [])
    return count < sizes.length ? { items, next: String(sizes[count - 1]?.id) } : { items }
  }

  /** Counts requests. Their bodies are not read. */
  *summary(filter: Filter): SqlWork<PendingSummary> {
    const { count, newest } = (yield* rowOf(this.#summary, ...columnsOf(filter))) ?? {}
    return { count: Number(count), newest: Number(newest) }
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

function columnsOf({ appName, userId, sessionId }: Filter): [app: string, user: string | null, session: string | null] {
  const [user = null, session = null] = [userId, sessionId].map((id) => (id === undefined ? null : toText(id)))
  return [toText(appName), user, session]
}

/** Decodes a request; undefined when the row is damaged. */
function decodeRequest(body: unknown): PendingRequest | undefined {
  const request = tryFromJson(body)
  return findPendingProblem(request) === undefined ? (request as PendingRequest) : undefined
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
    body: toJson(request, 'A pending request'),
  }))
  return { opened: encoded, closed: closed === 'all' ? closed : closed.slice() }
}
