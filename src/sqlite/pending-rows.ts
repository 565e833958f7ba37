import type { StatementSync } from 'node:sqlite'
import { ToolwrightError } from '../error/error.ts'
import type { PendingRequest } from '../event/pending-request.ts'
import { checkPendingRequest, findPendingProblem } from '../session/storable-entry.ts'
import type { Database } from './database.ts'
import type { ReportDamage } from './report-skipped-rows.ts'
import { toJson, toText, tryFromJson } from './text-encoding.ts'

/** A pending request as columns. */
interface EncodedRequest {
  /** Id of the request. */
  readonly id: string
  /** Creation time in seconds since 1970. Processes with schema version 1 sort by it. */
  readonly since: number
  /** The request as JSON. */
  readonly body: string
}

/** An index of the pending requests of all sessions. The log of a session stays the source of truth. */
export class PendingRows {
  readonly #reportDamage: ReportDamage
  readonly #ofSession: StatementSync
  readonly #delete: StatementSync
  readonly #update: StatementSync
  readonly #insert: StatementSync
  readonly #find: StatementSync

  constructor(database: Database, reportDamage: ReportDamage) {
    this.#reportDamage = reportDamage
    this.#ofSession = database.prepare('SELECT id, body FROM toolwright_pending WHERE session = ?')
    this.#delete = database.prepare('DELETE FROM toolwright_pending WHERE id = ?')
    this.#update = database.prepare('UPDATE toolwright_pending SET body = ? WHERE id = ?')
    this.#insert = database.prepare('INSERT INTO toolwright_pending (session, since, body) VALUES (?, ?, ?)')
    // CROSS JOIN starts with the few pending requests, not with all sessions; sorted by row id, because clocks may be set back
    this.#find = database.prepare(
      `SELECT sessions.session, body FROM toolwright_pending AS pending CROSS JOIN toolwright_sessions AS sessions
       ON sessions.id = pending.session
       WHERE app = ? AND user = coalesce(?, user) AND sessions.session = coalesce(?, sessions.session)
       ORDER BY pending.id`,
    )
  }

  /** Replaces the requests of a session. A known request keeps its row and its position. Call it in a transaction. */
  replace(session: number, requests: readonly EncodedRequest[]): void {
    const known = new Map<string, number>()
    for (const { id: row, body } of this.#ofSession.all(session)) {
      const request = decodeRequest(body)
      const isKept = request !== undefined && !known.has(request.id) && requests.some(({ id }) => id === request.id)
      if (isKept) known.set(request.id, Number(row))
      else this.#delete.run(row as number)
    }
    for (const { id, since, body } of requests) {
      const row = known.get(id)
      if (row === undefined) this.#insert.run(session, since, body)
      else this.#update.run(body, row)
    }
  }

  /**
   * Finds pending requests. A damaged request is reported and skipped, so that it does not hide requests of other sessions.
   * A search in its own session throws, so that the session does not look like one without pending requests.
   */
  find({ appName, userId, sessionId }: Filter): PendingRequest[] {
    const [user, session] = [userId, sessionId].map((id) => (id === undefined ? null : toText(id)))
    return this.#find.all(toText(appName), user ?? null, session ?? null).flatMap((row) => {
      const request = decodeRequest(row.body)
      if (request) return [request]
      const what = `A pending request of session "${String(row.session)}"`
      if (sessionId !== undefined) {
        const repair = 'Resume the session to restore its requests from the log.'
        throw new ToolwrightError('STORAGE', `${what} is damaged in the database. ${repair}`)
      }
      this.#reportDamage(what)
      return []
    })
  }
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

/** Encodes requests. A request without a creation time gets the current time. */
export function encodeRequests(requests: readonly PendingRequest[], now: number): EncodedRequest[] {
  return requests.map((request) => ({
    id: checkPendingRequest(request).id,
    since: request.createdAt ?? now / 1000,
    body: toJson(request, 'A pending request'),
  }))
}
