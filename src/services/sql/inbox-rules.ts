// The rules of the inbox: any process posts, the holder reads.
import { checkItemId } from '../session/inbox-limits.ts'
import { DELETING } from '../session/lease.ts'
import type { InboxItem, PostedItem, SessionKey } from '../session/service.ts'
import { sessionNotFound } from '../session/session-errors.ts'
import type { PostOptions } from '../session/waiting-limits.ts'
import { versionsOf } from './append-rules.ts'
import { fromJson, toJson } from './escaped-text.ts'
import { refusedLease } from './refused-lease.ts'
import type { HeldLease } from './session-rows.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlWork } from './sql.ts'
import type { StateUpdate } from './state-copy.ts'

/** Checks and copies an item: the caller may change it while the write waits. */
export function copyItem(item: InboxItem): InboxItem {
  checkItemId(item.id)
  return fromJson(toJson(item, 'An inbox item'), 'An inbox item') as InboxItem
}

/** Posts an item to the inbox of a session, and returns the last sequence number. */
export function* postItem(
  { sessions, leases, inbox }: SessionTables,
  key: SessionKey,
  item: InboxItem,
  { maxWaiting }: PostOptions = {},
): SqlWork<number> {
  const row = yield* sessions.lock(key)
  if (maxWaiting && !(row && (yield* inbox.hasSeen(row.id, item.id)))) yield* inbox.checkWaiting(key, maxWaiting)
  if (!row || (row.holder === DELETING && leases.isAlive(row))) throw sessionNotFound(key.sessionId)
  yield* inbox.post(row.id, item.id, toJson({ ...item, seq: row.seq }, 'An inbox item'))
  return row.seq
}

/** Reads the inbox, and the shared state that has changed. */
export function* readInbox(
  { sessions, inbox, state }: SessionTables,
  lease: HeldLease,
): SqlWork<{ readonly items: PostedItem[]; readonly updates: readonly StateUpdate[] }> {
  const row = yield* sessions.findHeld(lease)
  if (!row) throw yield* refusedLease({ sessions }, lease.key)
  return { items: yield* inbox.items(row), updates: yield* state.refresh(row, versionsOf(row, row.seq)) }
}
