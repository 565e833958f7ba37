import type { StatementSync } from 'node:sqlite'
import { isRecord } from '../../core/base/json.ts'
import { MAX_INBOX_ITEMS } from '../../core/base/limits.ts'
import { checkItemSize, inboxFullError, MAX_REMEMBERED_IDS } from '../../services/session/inbox-limits.ts'
import type { PostedItem } from '../../services/session/service.ts'
import type { Database } from './database.ts'
import { toText, tryFromJson } from './escaped-text.ts'
import type { LogOwner } from './log-rows.ts'
import type { ReportDamage } from './report-skipped-rows.ts'

/** The inbox items of all sessions, in order of arrival. */
export class InboxRows {
  readonly #reportDamage: ReportDamage
  readonly #insert: StatementSync
  readonly #countWaiting: StatementSync
  readonly #listWaiting: StatementSync
  readonly #clearBody: StatementSync
  readonly #deleteOldest: StatementSync

  constructor(database: Database, reportDamage: ReportDamage) {
    this.#reportDamage = reportDamage
    this.#insert = database.prepare(
      'INSERT INTO toolwright_inbox (session, item_id, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    )
    this.#countWaiting = database.prepare(
      'SELECT count(*) AS waiting FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL',
    )
    this.#listWaiting = database.prepare(
      'SELECT item_id, body FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL ORDER BY id',
    )
    // Keeps the ids of the latest drained items: a client that posts again after a lost reply must not be processed twice.
    this.#clearBody = database.prepare('UPDATE toolwright_inbox SET body = NULL WHERE session = ? AND item_id = ?')
    this.#deleteOldest = database.prepare(
      `DELETE FROM toolwright_inbox WHERE session = ? AND body IS NULL AND id <= (
         SELECT id FROM toolwright_inbox WHERE session = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_REMEMBERED_IDS})`,
    )
  }

  /** Adds an item unless its id is known; throws when the inbox is full. */
  post(session: number, id: string, body: string): void {
    checkItemSize(body.length)
    const isNew = this.#insert.run(session, toText(id), body).changes > 0
    const { waiting } = this.#countWaiting.get(session) as { waiting: number }
    if (isNew && waiting > MAX_INBOX_ITEMS) throw inboxFullError() // the transaction rolls back
  }

  /** Returns the undrained items. A damaged item is reported and skipped, so that it does not block the session. */
  items({ id, session }: LogOwner): PostedItem[] {
    return this.#listWaiting.all(id).flatMap(({ item_id, body }) => {
      const item = tryFromJson(body)
      if (isRecord(item) && typeof item.id === 'string' && toText(item.id) === item_id) {
        // an item without a sequence number is older than every request, so it answers none
        return [{ ...item, seq: typeof item.seq === 'number' ? item.seq : 0 } as unknown as PostedItem]
      }
      this.#reportDamage(`Inbox item "${String(item_id)}" of session "${session}"`)
      return []
    })
  }

  /** Marks items as drained. */
  remove(session: number, ids: readonly string[]): void {
    for (const id of ids) this.#clearBody.run(session, toText(id))
    if (ids.length) this.#deleteOldest.run(session, session)
  }
}
