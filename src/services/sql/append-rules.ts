import type { AppendOptions } from '../session/service.ts'
import { sessionExists, staleAppend } from '../session/session-errors.ts'
import { encodeCheckpoint } from './checkpoint-rows.ts'
import type { EncodedEntry } from './entry-encoding.ts'
import { type EncodedChanges, encodeChanges } from './pending-rows.ts'
import { refusedLease } from './refused-lease.ts'
import type { ExtendedRow, SessionRow } from './session-row.ts'
import type { HeldLease } from './session-rows.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlWork } from './sql.ts'
import type { StateUpdate, StateVersions } from './state-copy.ts'

/** Entries to append, and what changes with them. */
export interface Append {
  /** The lease of the writer. */
  readonly lease: HeldLease
  /** The last sequence number that the writer has seen. */
  readonly expectedSeq: number
  /** The entries. */
  readonly encoded: readonly EncodedEntry[]
  /** The time in milliseconds since 1970. */
  readonly now: number
  /** What changes with them. */
  readonly changes: EncodedOptions
}

/** Options of an append, encoded and copied: the caller may change them while the write waits. */
interface EncodedOptions {
  readonly drained: readonly string[] | undefined
  readonly pending: EncodedChanges | undefined
  readonly checkpoint: string | undefined
  readonly completesCopy: boolean
}

/** What an append did. */
export interface Appended {
  /** Row id of the session. */
  readonly id: number
  /** The sequence number before the first new entry. */
  readonly from: number
  /** The entries that are new. */
  readonly added: readonly EncodedEntry[]
  /** The last sequence number for the writer. */
  readonly seq: number
  /** What the append means for readers of state. */
  readonly updates: readonly StateUpdate[]
}

/** Encodes the options of an append. */
export function encodeOptions(options: AppendOptions, now: number): EncodedOptions {
  return {
    drained: options.drained?.slice(),
    pending: options.pending && encodeChanges(options.pending, now),
    checkpoint: options.checkpoint && encodeCheckpoint(options.checkpoint),
    completesCopy: options.completesCopy ?? false,
  }
}

/**
 * The rules of an append: only the holder appends, in order, all or nothing, and each event once. Most appends take two
 * statements: one that checks the lease and the order and makes room, and one that inserts the entries.
 */
export function* append(tables: SessionTables, work: Append): SqlWork<Appended> {
  const { sessions, log } = tables
  const { lease, expectedSeq, encoded, now, changes } = work
  const room = { seq: expectedSeq, count: encoded.length, now }
  const extended = changes.completesCopy ? undefined : yield* sessions.extend(lease, room)
  if (!extended) return yield* appendSlowly(tables, work, yield* lockHeldRow(tables, lease))
  if (yield* log.insert(extended.id, expectedSeq, encoded)) {
    return yield* storeChanges(tables, work, { row: extended, added: encoded })
  }
  yield* log.deleteAfter(extended.id, expectedSeq) // some of the events are stored already
  return yield* appendSlowly(tables, work, { ...(yield* lockHeldRow(tables, lease)), seq: expectedSeq })
}

/** Appends entry by entry, or finds out why that is not possible. */
function* appendSlowly(tables: SessionTables, work: Append, row: SessionRow): SqlWork<Appended> {
  const { sessions, log } = tables
  const { lease, expectedSeq, encoded, now } = work
  if (work.changes.completesCopy) yield* completeCopy(tables, lease)
  if (expectedSeq !== row.seq) return yield* repeated(tables, work, row)
  const added = yield* log.insertNew(row, row.seq, encoded)
  yield* sessions.setSeq(row.id, row.seq + added.length, now)
  return yield* storeChanges(tables, work, { row, added })
}

/** Stores what belongs to the entries that were added. */
function* storeChanges(
  { log, state, inbox, pending, checkpoints }: SessionTables,
  { encoded, changes }: Append,
  { row, added }: { row: ExtendedRow; added: readonly EncodedEntry[] },
): SqlWork<Appended> {
  const { id, seq: from } = row
  const last = from + added.length
  const stateChanges = added.length === 1 ? (added[0]?.changes ?? []) : added.flatMap((entry) => entry.changes)
  const updates = yield* state.apply(row, stateChanges, { from, versions: versionsOf(row, last) })
  if (changes.drained) yield* inbox.remove(id, changes.drained)
  if (changes.pending) yield* pending.change(id, changes.pending)
  if (changes.checkpoint !== undefined && from > 0) yield* checkpoints.save(id, from, changes.checkpoint)
  const seq = added.length > 0 ? last : ((yield* log.seqOfLast(id, encoded)) ?? last)
  return { id, from, added, seq, updates }
}

/** An append that is stored already changes nothing. */
function* repeated(
  { log, state }: SessionTables,
  { expectedSeq, encoded }: Append,
  row: SessionRow,
): SqlWork<Appended> {
  const seq = yield* log.seqOfRepeat(row, expectedSeq, encoded)
  if (seq === undefined) throw staleAppend(expectedSeq, row.seq)
  const updates = yield* state.refresh(row, versionsOf(row, row.seq))
  return { id: row.id, from: row.seq, added: [], seq, updates }
}

/** Makes an unfinished copy a session, in the transaction of its last append. */
function* completeCopy({ sessions }: SessionTables, lease: HeldLease): SqlWork<void> {
  const copy = yield* sessions.lockHeldCopy(lease)
  // a process of an earlier version may have created a session with this key, because it does not see the copy
  if (copy && !(yield* sessions.completeCopy(copy))) throw sessionExists(lease.key.sessionId)
}

function* lockHeldRow(tables: SessionTables, lease: HeldLease): SqlWork<SessionRow> {
  const row = yield* tables.sessions.lockHeld(lease)
  if (row) return row
  throw yield* refusedLease(tables, lease.key)
}

/** The versions of the state of a row whose log has this length. */
export function versionsOf(
  { app_version: app = 0, user_version: user = 0 }: Pick<SessionRow, 'app_version' | 'user_version'>,
  session: number,
): StateVersions {
  return { app, user, session }
}
