// Sessions of the source, which may be in use: a piece is good only while the session is as it was.
import { messageOf } from '../../../core/error/error.ts'
import type { SessionKey } from '../../session/service.ts'
import { fromText } from '../escaped-text.ts'
import type { LeaseRows } from '../lease-rows.ts'
import { checkRow, keyOf, NOT_A_COPY, type SessionRow, STORED_COLUMNS } from '../session-row.ts'
import { FREE } from '../session-rows.ts'
import { query, rowOf, rowsOf, type SqlDatabase, type SqlRow, type SqlWork, type Statement } from '../sql.ts'
import { COPIED, LOG, type Piece, type PiecePosition, readPiece } from './session-sections.ts'
import { valuesOf } from './table-pages.ts'

/** A session of the source. */
export interface SourceSession {
  /** Its key. */
  readonly key: SessionKey
  /** Its row. */
  readonly row: SessionRow
  /** Whether its holder died or was interrupted. */
  readonly isInterrupted: boolean
  /** Why no worker continues it. Undefined unless it was set aside. */
  readonly setAside: string | undefined
}

/** What was found of a session. */
export type FoundSession =
  | { readonly type: 'found'; readonly session: SourceSession }
  | { readonly type: 'gone' }
  | { readonly type: 'unusable'; readonly why: string }

/** What was read of a session. */
export type ReadPiece =
  | { readonly type: 'read'; readonly piece: Piece }
  | { readonly type: 'unusable'; readonly why: string }

/** How many sessions are listed at once. */
const LISTED = 100

const HELD = 'A process is using it. Stop that process, or wait for the end of its run, and copy again.'
const CHANGED = 'It changed while it was copied. Stop the processes that use the source, and copy again.'

/** The sessions of the source. */
export class SourceSessions {
  readonly #database: SqlDatabase
  readonly #leases: LeaseRows
  readonly #list: Statement = query(
    `SELECT id, app, "user", session FROM toolwright_sessions WHERE id > ? AND ${NOT_A_COPY} ORDER BY id LIMIT ${LISTED}`,
  )
  readonly #find: Statement

  constructor(database: SqlDatabase, leases: LeaseRows) {
    this.#database = database
    this.#leases = leases
    this.#find = query(
      `SELECT ${STORED_COLUMNS}, ${database.dialect.leaseTime} AS lease_now FROM toolwright_sessions WHERE id = ?`,
    )
  }

  /** Lists some sessions after a row. Unfinished copies are left out. */
  *list(after: number): SqlWork<readonly SqlRow[]> {
    return yield* rowsOf(this.#list, after)
  }

  /** Finds a session that can be copied now. */
  *find(id: number): SqlWork<FoundSession> {
    const row = yield* rowOf(this.#find, this.#database.leaseTime(), id)
    if (!row) return { type: 'gone' }
    try {
      const session = checkRow(row)
      if (this.#leases.isAlive(session)) return { type: 'unusable', why: HELD }
      const { epoch, set_aside } = session
      const setAside = set_aside === null ? undefined : fromText(set_aside, 'The reason why a session was set aside')
      return { type: 'found', session: { key: keyOf(session), row: session, isInterrupted: epoch !== FREE, setAside } }
    } catch (error) {
      return { type: 'unusable', why: messageOf(error) } // damaged
    }
  }

  /** Reads a piece of a session, unless it has changed since it was found. */
  *piece({ row }: SourceSession, from: PiecePosition): SqlWork<ReadPiece> {
    const now = yield* this.find(row.id)
    if (now.type !== 'found' || !isUnchanged(row, now.session.row)) return { type: 'unusable', why: CHANGED }
    const piece = yield* readPiece(COPIED, row, from)
    const why = problemOf(row, from, piece)
    return why === undefined ? { type: 'read', piece } : { type: 'unusable', why }
  }
}

function isUnchanged(before: SessionRow, now: SessionRow): boolean {
  return before.seq === now.seq && before.epoch === now.epoch && before.updated_at === now.updated_at
}

/** Why a piece cannot be copied: its log has a gap, or its text could not be told apart from other text. */
function problemOf({ seq }: SessionRow, from: PiecePosition, { rows, next }: Piece): string | undefined {
  for (const { section, rows: read } of rows) {
    const broken = read.find((row) => valuesOf(row, section.columns).some(hasNul))
    if (broken) return 'One of its rows is damaged: it contains NUL. Restore the source from a backup.'
    if (section !== LOG) continue
    let expected = from.section === 0 ? from.after : 0
    for (const row of read) if (Number(row.seq) !== ++expected) return missing(expected)
    const isWhole = !next || next.section > 0
    if (isWhole && expected < seq) return missing(expected + 1)
    if (expected > seq) return `Its log has more than its ${seq} entries. Restore the source from a backup.`
  }
  return undefined
}

function missing(seq: number): string {
  return `Entry ${seq} of its log is missing. Restore the source from a backup.`
}

function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0')
}
