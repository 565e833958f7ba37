import type { StatementSync } from 'node:sqlite'
import { ToolwrightError } from '../../core/error/error.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { readPagePosition } from '../../services/session/page.ts'
import type { Page, PageOptions, PendingChanges, PendingSummary } from '../../services/session/service.ts'
import { checkPendingRequest, findPendingProblem } from '../../services/session/storable-entry.ts'
import type { Database } from './database.ts'
import { toJson, toText, tryFromJson } from './escaped-text.ts'
import type { ReportDamage } from './report-skipped-rows.ts'
import { countRowsWithin } from './rows-within.ts'

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
interface EncodedChanges extends Pick<PendingChanges, 'closed'> {
  /** Requests that are pending from now on. */
  readonly opened: readonly EncodedRequest[]
}

/** An index of the pending requests of all sessions. The log of a session stays the source of truth. */
export class PendingRows {
  readonly #reportDamage: ReportDamage
  readonly #ofSession: StatementSync
  readonly #delete: StatementSync
  readonly #update: StatementSync
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #page: StatementSync
  readonly #sizes: StatementSync
  readonly #summary: StatementSync

  constructor(database: Database, reportDamage: ReportDamage) {
    this.#reportDamage = reportDamage
    this.#ofSession = database.prepare('SELECT id, body FROM toolwright_pending WHERE session = ?')
    this.#delete = database.prepare('DELETE FROM toolwright_pending WHERE id = ?')
    this.#update = database.prepare('UPDATE toolwright_pending SET body = ? WHERE id = ?')
    this.#insert = database.prepare('INSERT INTO toolwright_pending (session, since, body) VALUES (?, ?, ?)')
    // CROSS JOIN starts with the few pending requests, not with all sessions; sorted by row id, because clocks may be set back
    const matching = `FROM toolwright_pending AS pending CROSS JOIN toolwright_sessions AS sessions
       ON sessions.id = pending.session
       WHERE app = ? AND user = coalesce(?, user) AND sessions.session = coalesce(?, sessions.session)`
    const columns = 'pending.id AS id, sessions.session AS session, body'
    this.#find = database.prepare(`SELECT ${columns} ${matching} ORDER BY pending.id`)
    const part = `${matching} AND pending.id > ? ORDER BY pending.id LIMIT ?`
    this.#page = database.prepare(`SELECT ${columns} ${part}`)
    this.#sizes = database.prepare(`SELECT pending.id AS id, octet_length(body) AS bytes ${part}`)
    this.#summary = database.prepare(`SELECT count(*) AS count, coalesce(max(pending.id), 0) AS newest ${matching}`)
  }

  /** Changes the requests of a session. A known request keeps its row and its position. Call it in a transaction. */
  change(session: number, { opened, closed }: EncodedChanges): void {
    const known = new Map<string, number>()
    const openedIds = new Set(opened.map(({ id }) => id))
    const isClosed = (id: string): boolean => closed === 'all' || closed.includes(id)
    for (const { id: row, body } of this.#ofSession.all(session)) {
      const request = decodeRequest(body)
      const isOpened = request !== undefined && openedIds.has(request.id) && !known.has(request.id)
      if (isOpened) known.set(request.id, Number(row))
      else if (!request ? closed === 'all' : openedIds.has(request.id) || isClosed(request.id))
        this.#delete.run(row as number)
    }
    for (const { id, since, body } of opened) {
      const row = known.get(id)
      if (row === undefined) this.#insert.run(session, since, body)
      else this.#update.run(body, row)
    }
  }

  /**
   * Finds pending requests. A damaged request is reported and skipped, so that it does not hide requests of other sessions.
   * A search in its own session throws, so that the session does not look like one without pending requests.
   */
  find(filter: Filter): PendingRequest[] {
    return this.#find.all(...columnsOf(filter)).flatMap((row) => this.#decode(row, filter) ?? [])
  }

  /** A part of the requests. Bodies after it are not read. */
  page(filter: Filter & PageOptions): Page<PendingRequest> {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = filter
    const from = [...columnsOf(filter), readPagePosition(filter)]
    const sizes = this.#sizes.all(...from, Math.min(limit, MAX_PIECE_ROWS) + 1)
    const count = Math.min(countRowsWithin(sizes, maxBytes), limit, MAX_PIECE_ROWS)
    const items = this.#page.all(...from, count).flatMap((row) => this.#decode(row, filter) ?? [])
    return count < sizes.length ? { items, next: String(sizes[count - 1]?.id) } : { items }
  }

  /** Counts requests. Their bodies are not read. */
  summary(filter: Filter): PendingSummary {
    const { count, newest } = this.#summary.get(...columnsOf(filter)) ?? {}
    return { count: Number(count), newest: Number(newest) }
  }

  #decode(row: { readonly [column: string]: unknown }, { sessionId }: Filter): PendingRequest | undefined {
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
