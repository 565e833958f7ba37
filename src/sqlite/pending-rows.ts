import type { StatementSync } from 'node:sqlite'
import { isRecord } from '../base/json.ts'
import type { PendingRequest } from '../event/pending.ts'
import type { Database } from './database.ts'
import { readable, toJson, toText } from './text.ts'

/** A request in writing, and since when it waits, in seconds. */
export interface WaitingLine {
  readonly since: number
  readonly body: string
}

/** What sessions wait for. */
export class PendingRows {
  readonly #clear: StatementSync
  readonly #insert: StatementSync
  readonly #find: StatementSync

  constructor(database: Database) {
    this.#clear = database.prepare('DELETE FROM toolwright_pending WHERE session = ?')
    this.#insert = database.prepare('INSERT INTO toolwright_pending (session, since, body) VALUES (?, ?, ?)')
    // few sessions wait: those are looked through, not all
    this.#find = database.prepare(
      `SELECT body FROM toolwright_pending AS pending CROSS JOIN toolwright_sessions AS sessions
       ON sessions.id = pending.session
       WHERE app = ? AND user = coalesce(?, user) AND sessions.session = coalesce(?, sessions.session)
       ORDER BY since, pending.id`,
    )
  }

  /** Inside a transaction. */
  replace(session: number, lines: readonly WaitingLine[]): void {
    this.#clear.run(session)
    for (const { since, body } of lines) this.#insert.run(session, since, body)
  }

  find({ appName, userId, sessionId }: Filter): PendingRequest[] {
    const [user, session] = [userId, sessionId].map((id) => (id === undefined ? null : toText(id)))
    // a damaged one is left out: it must not hide everybody else's, and the log it was made from lists it again
    return this.#find.all(toText(appName), user ?? null, session ?? null).flatMap(({ body }) => {
      const request = readable(body)
      return isRecord(request) && typeof request.id === 'string' ? [request as unknown as PendingRequest] : []
    })
  }
}

interface Filter {
  readonly appName: string
  readonly userId?: string | undefined
  readonly sessionId?: string | undefined
}

/** A request without a time is as old as its record. */
export function toWaitingLines(requests: readonly PendingRequest[], now: number): WaitingLine[] {
  return requests.map((request) => ({
    since: request.createdAt ?? now / 1000,
    body: toJson(request, 'A pending request'),
  }))
}
