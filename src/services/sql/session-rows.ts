import type { Lease, SessionKey } from '../session/service.ts'
import { toText } from './escaped-text.ts'
import {
  checkRow,
  copyColumns,
  type ExtendedRow,
  type InsertedRow,
  type KeyColumns,
  keyColumns,
  OF_KEY,
  ofCopy,
  type SessionRow,
  STORED_COLUMNS,
  type UpdatedRow,
} from './session-row.ts'
import { changesOf, command, query, rowOf, rowsOf, type SqlDatabase, type SqlWork, type Statement } from './sql.ts'
import { versionColumns } from './state-versions.ts'

/** The parts of a lease that prove the right to write. */
export type HeldLease = Pick<Lease, 'key' | 'epoch'>

/** The epoch of a session without a holder. */
export const FREE = 0

/** How many row ids of holders are remembered. */
const MAX_KNOWN_ROWS = 10_000

/** The sessions: their keys and the length of their logs. */
export class SessionRows {
  readonly #database: SqlDatabase
  readonly #insert: Statement
  readonly #find: Statement
  readonly #lock: Statement
  readonly #list: Statement
  readonly #oldest: Statement
  readonly #newest: Statement
  readonly #count: Statement
  readonly #delete: Statement
  readonly #extend: Statement
  readonly #extendKnown: Statement
  /** The rows of holders, by their epochs. Only hints: the statement that uses one checks the whole key. */
  readonly #knownRows: Map<number, number> = new Map()
  readonly #setSeq: Statement
  readonly #complete: Statement

  constructor(database: SqlDatabase) {
    const { leaseTime, forUpdate } = database.dialect
    const columns = `${STORED_COLUMNS}, ${leaseTime} AS lease_now`
    this.#database = database
    const versions = versionColumns(database)
    this.#insert = query(
      `INSERT INTO toolwright_sessions (app, "user", session, seq, epoch, expires_at, updated_at)
       VALUES (?, ?, ?, 0, ${FREE}, 0, ?) ON CONFLICT (app, "user", session) DO NOTHING RETURNING id${versions}`,
    )
    this.#find = query(`SELECT ${columns}${versions} FROM toolwright_sessions WHERE ${OF_KEY}`)
    this.#lock = query(`SELECT ${columns}${versions} FROM toolwright_sessions WHERE ${OF_KEY}${forUpdate}`)
    const ofUser = `SELECT ${columns} FROM toolwright_sessions WHERE app = ? AND "user" = ?`
    this.#list = query(`${ofUser} ORDER BY id`)
    this.#oldest = query(`${ofUser} AND id > ? ORDER BY id LIMIT ?`)
    this.#newest = query(`${ofUser} AND id < ? ORDER BY id DESC LIMIT ?`)
    this.#count = query('SELECT count(*) AS count FROM toolwright_sessions WHERE app = ? AND "user" = ?')
    this.#delete = command('DELETE FROM toolwright_sessions WHERE id = ?')
    // Checks the lease and the order of appends, and locks the row, in one statement.
    const extend = `UPDATE toolwright_sessions SET seq = seq + ?, updated_at = ? WHERE ${OF_KEY} AND epoch = ? AND seq = ?`
    this.#extend = query(`${extend} RETURNING id${versions}`)
    this.#extendKnown = command(`${extend} AND id = ?`)
    this.#setSeq = command('UPDATE toolwright_sessions SET seq = ?, updated_at = ? WHERE id = ?')
    this.#complete = command(
      `UPDATE toolwright_sessions SET app = ?
       WHERE id = ? AND NOT EXISTS (SELECT 1 FROM toolwright_sessions AS other WHERE ${OF_KEY})`,
    )
  }

  /** Inserts a session and returns its row; undefined when it exists. */
  *insert(key: SessionKey, now: number): SqlWork<InsertedRow | undefined> {
    const [app, user, session] = keyColumns(key)
    const row = (yield* rowOf(this.#insert, app, user, session, now)) as UpdatedRow | undefined
    return row && { ...row, app, user, session, updated_at: now }
  }

  /** Inserts an unfinished copy; false when a copy with this key exists. */
  *insertCopy(key: SessionKey, now: number): SqlWork<boolean> {
    return (yield* rowOf(this.#insert, ...copyColumns(key), now)) !== undefined
  }

  /** Finds the row of a session. */
  find(key: SessionKey): SqlWork<SessionRow | undefined> {
    return this.#select(this.#find, keyColumns(key))
  }

  /** Finds the row of a session that the transaction writes to. */
  lock(key: SessionKey): SqlWork<SessionRow | undefined> {
    return this.#select(this.#lock, keyColumns(key))
  }

  /** Finds the row of an unfinished copy. */
  *findCopy(key: SessionKey): SqlWork<SessionRow | undefined> {
    const row = yield* this.#select(this.#find, copyColumns(key))
    return row && ofCopy(row)
  }

  /** Finds the session, or the unfinished copy, of a lease; undefined after another claim. The epoch decides, not the clock. */
  findHeld(lease: HeldLease): SqlWork<SessionRow | undefined> {
    return this.#selectHeld(this.#find, lease)
  }

  /** Finds the session, or the unfinished copy, of a lease that the transaction writes to. */
  lockHeld(lease: HeldLease): SqlWork<SessionRow | undefined> {
    return this.#selectHeld(this.#lock, lease)
  }

  /** Finds the unfinished copy of a lease that the transaction writes to. */
  *lockHeldCopy({ key, epoch }: HeldLease): SqlWork<SessionRow | undefined> {
    const copy = isEpoch(epoch) ? yield* this.#select(this.#lock, copyColumns(key)) : undefined
    return copy?.epoch === epoch ? ofCopy(copy) : undefined
  }

  /** Lists the sessions of a user in order of creation. */
  *list({ appName, userId }: { appName: string; userId: string }): SqlWork<SessionRow[]> {
    return (yield* rowsOf(this.#list, this.#database.leaseTime(), toText(appName), toText(userId))).map(checkRow)
  }

  /** At most `limit` sessions of a user after a row, in order of creation or the newest first. */
  *page(
    { appName, userId }: { appName: string; userId: string },
    { after, limit, newestFirst }: { after: number; limit: number; newestFirst: boolean },
  ): SqlWork<SessionRow[]> {
    const statement = newestFirst ? this.#newest : this.#oldest
    const from = newestFirst && after === 0 ? Number.MAX_SAFE_INTEGER : after
    const ofUser = [this.#database.leaseTime(), toText(appName), toText(userId)]
    return (yield* rowsOf(statement, ...ofUser, from, limit)).map(checkRow)
  }

  /** Counts the sessions of a user. */
  *count({ appName, userId }: { appName: string; userId: string }): SqlWork<number> {
    return Number((yield* rowOf(this.#count, toText(appName), toText(userId)))?.count)
  }

  /** Deletes a session; foreign keys delete its entries, inbox items, requests and checkpoint. */
  *delete(id: number): SqlWork<void> {
    yield* changesOf(this.#delete, id)
  }

  /**
   * Makes room for `count` entries after `seq`, and returns the row. Undefined if the lease is lost, the log has another length,
   * or the session is an unfinished copy: `lockHeld` tells which.
   */
  *extend(
    { key, epoch }: HeldLease,
    { seq, count, now }: { seq: number; count: number; now: number },
  ): SqlWork<ExtendedRow | undefined> {
    if (!isEpoch(epoch) || !Number.isSafeInteger(seq)) return undefined
    const [app, user, session] = keyColumns(key)
    const known = this.#database.readNow && this.#knownRows.get(epoch)
    if (known !== undefined) {
      // an answer without a row is faster in SQLite; where state is copied, the row also tells the versions of it
      const changes = yield* changesOf(this.#extendKnown, count, now, app, user, session, epoch, seq, known)
      return changes > 0 ? { id: known, app, user, session, seq } : undefined
    }
    const row = (yield* rowOf(this.#extend, count, now, app, user, session, epoch, seq)) as UpdatedRow | undefined
    if (row) this.#know(epoch, row.id)
    return row && { ...row, app, user, session, seq }
  }

  #know(epoch: number, id: number): void {
    if (this.#knownRows.size === MAX_KNOWN_ROWS) this.#knownRows.clear()
    this.#knownRows.set(epoch, id)
  }

  /** Sets the sequence number of the last entry and the time of the append. */
  *setSeq(id: number, seq: number, now: number): SqlWork<void> {
    yield* changesOf(this.#setSeq, seq, now, id)
  }

  /** Makes an unfinished copy a session; false when another session has its key. */
  *completeCopy({ id, app, user, session }: SessionRow): SqlWork<boolean> {
    return (yield* changesOf(this.#complete, app, id, app, user, session)) > 0
  }

  *#select(statement: Statement, columns: KeyColumns): SqlWork<SessionRow | undefined> {
    const row = yield* rowOf(statement, this.#database.leaseTime(), ...columns)
    return row && checkRow(row)
  }

  *#selectHeld(statement: Statement, { key, epoch }: HeldLease): SqlWork<SessionRow | undefined> {
    if (!isEpoch(epoch)) return undefined
    const row = yield* this.#select(statement, keyColumns(key))
    if (row?.epoch === epoch) return row
    const copy = yield* this.#select(statement, copyColumns(key))
    return copy?.epoch === epoch ? ofCopy(copy) : undefined
  }
}

/** Whether a number can be an epoch. A caller may pass an invented lease. */
export const isEpoch = (epoch: number): boolean => Number.isSafeInteger(epoch) && epoch > FREE
