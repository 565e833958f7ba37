// The rules for creating and deleting sessions.
import type { Session, SessionKey } from '../session/service.ts'
import { sessionExists } from '../session/session-errors.ts'
import { versionsOf } from './append-rules.ts'
import type { EncodedEntry } from './entry-encoding.ts'
import { toSession } from './session-lists.ts'
import type { InsertedRow } from './session-row.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlWork } from './sql.ts'
import type { StateChange } from './state-change.ts'
import type { StateUpdate } from './state-copy.ts'
import type { StateOwner } from './state-rows.ts'

/** A session to create. */
export interface NewSession {
  /** Its key. */
  readonly key: SessionKey
  /** Its first state. */
  readonly changes: readonly StateChange[]
  /** Its imported events. */
  readonly encoded: readonly EncodedEntry[]
  /** The time in milliseconds since 1970. */
  readonly now: number
}

/** Creates a session; throws ALREADY_EXISTS. */
export function* createSession(
  tables: SessionTables,
  { key, changes, encoded, now }: NewSession,
): SqlWork<{ readonly session: Session; readonly updates: readonly StateUpdate[] }> {
  const { sessions, pages, state } = tables
  if (yield* sessions.findCopy(key)) throw sessionExists(key.sessionId)
  const row = yield* sessions.insert(key, now)
  if (!row) throw sessionExists(key.sessionId)
  const added = yield* insertOnce(tables, row, encoded)
  const all = [...changes, ...added.flatMap((entry) => entry.changes)]
  const updates = yield* state.apply(row, all, { from: 0, versions: versionsOf(row, added.length) })
  if (added.length > 0) yield* sessions.setSeq(row.id, added.length, now)
  const events = added.length > 0 ? yield* pages.events(row) : []
  return { session: yield* toSession(tables, row, events), updates }
}

/** Inserts the first entries of a log, each event once, and returns those that are new. */
function* insertOnce(
  { log }: SessionTables,
  row: InsertedRow,
  encoded: readonly EncodedEntry[],
): SqlWork<readonly EncodedEntry[]> {
  if (yield* log.insert(row.id, 0, encoded)) return encoded
  yield* log.deleteAfter(row.id, 0)
  return yield* log.insertNew(row, 0, encoded)
}

/** Deletes a session with its state, log, inbox and pending requests, and returns its row id; undefined if there is none. */
export function* deleteSession(tables: SessionTables, key: SessionKey): SqlWork<number | undefined> {
  const row = yield* tables.sessions.lock(key)
  if (row) yield* deleteRow(tables, row)
  return row?.id
}

/** Deletes the row of a session and all that belongs to it. */
export function* deleteRow({ stateRows, sessions }: SessionTables, row: StateOwner): SqlWork<void> {
  yield* stateRows.deleteSessionState(row)
  yield* sessions.delete(row.id) // foreign keys delete its log, inbox, requests and checkpoint
}
