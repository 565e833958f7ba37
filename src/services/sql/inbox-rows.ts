import { isRecord } from '../../core/base/json.ts'
import { MAX_INBOX_ITEMS } from '../../core/base/limits.ts'
import { checkItemSize, inboxFullError, MAX_REMEMBERED_IDS } from '../session/inbox-limits.ts'
import type { PostedItem, SessionKey } from '../session/service.ts'
import { MESSAGE_PREFIX, tooManyWaiting, type WaitingLimits } from '../session/waiting-limits.ts'
import { toText, tryFromJson } from './escaped-text.ts'
import type { LogOwner } from './log-rows.ts'
import type { ReportDamage } from './report-skipped-rows.ts'
import { changesOf, command, query, rowOf, rowsOf, type SqlWork, type Statement } from './sql.ts'

/** The inbox items of all sessions, in order of arrival. */
export class InboxRows {
  readonly #reportDamage: ReportDamage
  readonly #insert: Statement = command(
    'INSERT INTO toolwright_inbox (session, item_id, body) VALUES (?, ?, ?) ON CONFLICT (session, item_id) DO NOTHING',
  )
  readonly #countWaiting: Statement = query(
    'SELECT count(*) AS waiting FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL',
  )
  readonly #listWaiting: Statement = query(
    'SELECT item_id, body FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL ORDER BY id',
  )
  // Keeps the ids of the latest drained items: a client that posts again after a lost reply must not be processed twice.
  readonly #clearBody: Statement = command('UPDATE toolwright_inbox SET body = NULL WHERE session = ? AND item_id = ?')
  readonly #deleteOldest: Statement = command(
    `DELETE FROM toolwright_inbox WHERE session = ? AND body IS NULL AND id <= (
       SELECT id FROM toolwright_inbox WHERE session = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_REMEMBERED_IDS})`,
  )

  readonly #find: Statement = query('SELECT item_id FROM toolwright_inbox WHERE session = ? AND item_id = ?')
  readonly #messagesOfApp: Statement = countMessages('')
  readonly #messagesOfUser: Statement = countMessages('AND owners."user" = ?')

  constructor(reportDamage: ReportDamage) {
    this.#reportDamage = reportDamage
  }

  /** Adds an item unless its id is known; throws when the inbox is full. */
  *post(session: number, id: string, body: string): SqlWork<void> {
    checkItemSize(body.length)
    const isNew = (yield* changesOf(this.#insert, session, toText(id), body)) > 0
    const waiting = Number((yield* rowOf(this.#countWaiting, session))?.waiting)
    if (isNew && waiting > MAX_INBOX_ITEMS) throw inboxFullError() // the transaction rolls back
  }

  /** Was an item with this id posted to the session before? */
  *hasSeen(session: number, id: string): SqlWork<boolean> {
    return (yield* rowOf(this.#find, session, toText(id))) !== undefined
  }

  /** Throws RATE_LIMITED if too many messages wait. */
  *checkWaiting({ appName, userId }: SessionKey, { perApp, perUser }: WaitingLimits): SqlWork<void> {
    const app = toText(appName)
    if (perUser !== undefined) {
      const row = yield* rowOf(this.#messagesOfUser, app, toText(userId), perUser)
      if (Number(row?.waiting) >= perUser) throw tooManyWaiting('user', perUser)
    }
    if (perApp !== undefined) {
      const row = yield* rowOf(this.#messagesOfApp, app, perApp)
      if (Number(row?.waiting) >= perApp) throw tooManyWaiting('app', perApp)
    }
  }

  /** Returns the undrained items. A damaged item is reported and skipped, so that it does not block the session. */
  *items({ id, session }: LogOwner): SqlWork<PostedItem[]> {
    return (yield* rowsOf(this.#listWaiting, id)).flatMap(({ item_id, body }) => {
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
  *remove(session: number, ids: readonly string[]): SqlWork<void> {
    for (const id of ids) yield* changesOf(this.#clearBody, session, toText(id))
    if (ids.length) yield* changesOf(this.#deleteOldest, session, session)
  }
}

/** Counts waiting messages, no further than the limit. */
function countMessages(owner: string): Statement {
  return query(
    `SELECT count(*) AS waiting FROM (
       SELECT 1 AS one FROM toolwright_inbox AS items JOIN toolwright_sessions AS owners ON items.session = owners.id
       WHERE body IS NOT NULL AND item_id LIKE '${MESSAGE_PREFIX}%' AND owners.app = ? ${owner} LIMIT ?) AS found`,
  )
}
