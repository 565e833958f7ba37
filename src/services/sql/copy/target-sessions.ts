// The rules of the target: a session is an unfinished copy, invisible to runs, until its last piece is written.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Lease, SessionKey } from '../../session/service.ts'
import { leaseLost, sessionExists } from '../../session/session-errors.ts'
import { deleteRow } from '../create-rules.ts'
import { createCopy } from '../lease-rules.ts'
import type { SessionTables } from '../session-tables.ts'
import type { SqlWork } from '../sql.ts'
import { insertedValues, type Piece } from './session-sections.ts'
import type { SourceSession } from './source-session.ts'

/** Deletes an unfinished copy whose process died. False: the process may be alive. */
export function* deleteDeadCopy(tables: SessionTables, key: SessionKey): SqlWork<boolean> {
  const copy = yield* tables.leases.lockCopy(key)
  if (copy && tables.leases.isAlive(copy)) return false
  if (copy) yield* deleteRow(tables, copy)
  return true
}

/** A piece to write. */
export interface PieceToWrite {
  /** The session in the source. */
  readonly session: SourceSession
  /** The rows. */
  readonly piece: Piece
  /** The lease of the copy; undefined for the first piece. */
  readonly lease: Lease | undefined
}

/**
 * Writes a piece of a session, the first one with the row of the copy, and returns the lease of the copy. The last one makes the copy
 * a session without a holder. A session of one piece so takes one transaction.
 */
export function* writePiece(tables: SessionTables, { session, piece, lease: given }: PieceToWrite): SqlWork<Lease> {
  const { sessions, leases } = tables
  const { key, row, isInterrupted, setAside } = session
  const lease = given ?? (yield* createCopy(tables, key, [], row.updated_at)).lease
  const copy = yield* sessions.lockHeldCopy(lease)
  if (!copy) throw leaseLost(key.sessionId)
  for (const { section, rows } of piece.rows) {
    const inserted = yield* section.insert.insert(insertedValues(section, copy, rows))
    if (inserted !== rows.length) throw new ToolwrightError('STORAGE', DROPPED)
  }
  if (piece.next) {
    yield* leases.renew(lease)
    return lease
  }
  yield* sessions.setSeq(copy.id, row.seq, row.updated_at)
  if (!(yield* sessions.completeCopy(copy))) throw sessionExists(key.sessionId)
  if (setAside !== undefined) yield* leases.setAside(lease, setAside)
  else yield* isInterrupted ? leases.interrupt(lease) : leases.release(lease)
  return lease
}

const DROPPED = 'The target dropped rows without an error. Remove the triggers on its tables.'
