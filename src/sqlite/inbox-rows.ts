import type { StatementSync } from 'node:sqlite'
import { isRecord } from '../base/json.ts'
import { MAX_INBOX_ITEMS } from '../base/limits.ts'
import { checkItemSize, inboxFullError, MAX_REMEMBERED_IDS } from '../session/inbox-limits.ts'
import type { PostedItem } from '../session/service.ts'
import type { Database } from './database.ts'
import type { LogOwner } from './log-rows.ts'
import type { ReportDamage } from './report-damage.ts'
import { readable, toText } from './text.ts'

/** What others left for the holders of sessions, in the order it came. */
export class InboxRows {
  readonly #reportDamage: ReportDamage
  readonly #post: StatementSync
  readonly #count: StatementSync
  readonly #waiting: StatementSync
  readonly #done: StatementSync
  readonly #forget: StatementSync

  constructor(database: Database, reportDamage: ReportDamage) {
    this.#reportDamage = reportDamage
    this.#post = database.prepare(
      'INSERT INTO toolwright_inbox (session, item_id, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    )
    this.#count = database.prepare(
      'SELECT count(*) AS waiting FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL',
    )
    this.#waiting = database.prepare(
      'SELECT item_id, body FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL ORDER BY id',
    )
    // The id stays, with the latest of them: a poster that retries because it heard no answer must not be heard twice.
    this.#done = database.prepare('UPDATE toolwright_inbox SET body = NULL WHERE session = ? AND item_id = ?')
    this.#forget = database.prepare(
      `DELETE FROM toolwright_inbox WHERE session = ?1 AND body IS NULL AND id <= (
         SELECT id FROM toolwright_inbox WHERE session = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_REMEMBERED_IDS})`,
    )
  }

  post(session: number, id: string, body: string): void {
    checkItemSize(body.length)
    const isNew = this.#post.run(session, toText(id), body).changes > 0
    const { waiting } = this.#count.get(session) as { waiting: number }
    if (isNew && waiting > MAX_INBOX_ITEMS) throw inboxFullError() // and is rolled back with its transaction
  }

  /**
   * What waits. A damaged item is reported and left where it is: it must not block the session, and what it
   * was cannot be known.
   */
  items({ id, session }: LogOwner): PostedItem[] {
    return this.#waiting.all(id).flatMap(({ item_id, body }) => {
      const item = readable(body)
      if (isRecord(item) && typeof item.id === 'string' && toText(item.id) === item_id) {
        // a row without a sequence number precedes every request: its answers count for none
        return [{ ...item, seq: typeof item.seq === 'number' ? item.seq : 0 } as unknown as PostedItem]
      }
      this.#reportDamage(`Inbox item "${String(item_id)}" of session "${session}"`)
      return []
    })
  }

  remove(session: number, ids: readonly string[]): void {
    for (const id of ids) this.#done.run(session, toText(id))
    if (ids.length) this.#forget.run(session)
  }
}
