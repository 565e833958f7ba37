import type { StatementSync } from 'node:sqlite'
import { ToolwrightError } from '../error/error.ts'
import type { PendingRequest } from '../event/pending.ts'
import { checkPendingRequest } from '../session/storable-entry.ts'
import { findPendingProblem } from '../session/validate-entry.ts'
import type { Database } from './database.ts'
import type { ReportDamage } from './report-damage.ts'
import { readable, toJson, toText } from './text.ts'

/** A request in writing. */
export interface PendingLine {
  readonly id: string
  /** In seconds since 1970: processes of version 1 sort by it. */
  readonly since: number
  readonly body: string
}

/** Pending requests of all sessions. The log of a session is the truth; this list is for finding them without it. */
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
    // few sessions wait: those are looked through, not all; ids of rows grow, clocks may be set
    this.#find = database.prepare(
      `SELECT sessions.session, body FROM toolwright_pending AS pending CROSS JOIN toolwright_sessions AS sessions
       ON sessions.id = pending.session
       WHERE app = ? AND user = coalesce(?, user) AND sessions.session = coalesce(?, sessions.session)
       ORDER BY pending.id`,
    )
  }

  /** A request that was there before keeps its row, and with it its place. Inside a transaction. */
  replace(session: number, lines: readonly PendingLine[]): void {
    const known = new Map<string, number>()
    for (const { id: row, body } of this.#ofSession.all(session)) {
      const request = requestIn(body)
      const isKept = request !== undefined && !known.has(request.id) && lines.some(({ id }) => id === request.id)
      if (isKept) known.set(request.id, Number(row))
      else this.#delete.run(row as number)
    }
    for (const { id, since, body } of lines) {
      const row = known.get(id)
      if (row === undefined) this.#insert.run(session, since, body)
      else this.#update.run(body, row)
    }
  }

  /**
   * A damaged request is reported and passed over: it must not hide those of other sessions. A search for the requests of
   * its own session fails, so that a client does not take the session for one without pending requests.
   */
  find({ appName, userId, sessionId }: Filter): PendingRequest[] {
    const [user, session] = [userId, sessionId].map((id) => (id === undefined ? null : toText(id)))
    return this.#find.all(toText(appName), user ?? null, session ?? null).flatMap((row) => {
      const request = requestIn(row.body)
      if (request) return [request]
      const what = `A pending request of session "${String(row.session)}"`
      if (sessionId !== undefined) {
        const repair = 'Resume the session: its requests are listed again from its log.'
        throw new ToolwrightError('STORAGE', `${what} is damaged in the database. ${repair}`)
      }
      this.#reportDamage(what)
      return []
    })
  }
}

/** Undefined when the row is damaged. */
function requestIn(body: unknown): PendingRequest | undefined {
  const request = readable(body)
  return findPendingProblem(request) === undefined ? (request as PendingRequest) : undefined
}

interface Filter {
  readonly appName: string
  readonly userId?: string | undefined
  readonly sessionId?: string | undefined
}

/** A request without a time is as old as its record. */
export function toPendingLines(requests: readonly PendingRequest[], now: number): PendingLine[] {
  return requests.map((request) => ({
    id: checkPendingRequest(request).id,
    since: request.createdAt ?? now / 1000,
    body: toJson(request, 'A pending request'),
  }))
}
