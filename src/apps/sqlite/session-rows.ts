import type { StatementSync } from 'node:sqlite'
import { DEFAULT_LEASE_MS, MAX_LEASE_MS } from '../../services/session/lease.ts'
import type { Lease, SessionKey } from '../../services/session/service.ts'
import type { Database } from './database.ts'
import { fromText, toText } from './escaped-text.ts'
import { damaged } from './storage-error.ts'

/** The row of a session. The tables are STRICT. */
export interface SessionRow {
  /** Row id, never reused. */
  readonly id: number
  /** App name, encoded. */
  readonly app: string
  /** User id, encoded. */
  readonly user: string
  /** Session id, encoded. */
  readonly session: string
  /** Sequence number of the last entry. */
  readonly seq: number
  /** Epoch of the holder; 0 without a holder. */
  readonly epoch: number
  /** End of the lease in milliseconds since 1970, for processes with schema version 1. */
  readonly expires_at: number
  /** Time of the last append in milliseconds since 1970. */
  readonly updated_at: number
  /** The epoch that `lease_until` and `lease_ms` belong to. */
  readonly lease_epoch: number
  /** End of the lease in milliseconds since boot. */
  readonly lease_until: number
  /** Length of the lease. */
  readonly lease_ms: number
}

/** The parts of a lease that prove the right to write. */
type HeldLease = Pick<Lease, 'key' | 'epoch'>

/** The clocks and the length of leases. */
interface LeaseClock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds since boot, the same for all processes. */
  readonly monotonicNow: () => number
  /** Length of a new lease. */
  readonly leaseMs: number
}

/** The epoch of a session without a holder. */
const FREE = 0

/** All columns except `checkpoint`, which is no longer used. */
const COLUMNS = 'id, app, user, session, seq, epoch, expires_at, updated_at, lease_epoch, lease_until, lease_ms'

/**
 * Stands before the app name of an unfinished copy, so that no search for sessions finds it: not in this version, and not in a
 * process of an earlier version that has the file open. An encoded app name never starts with a quotation mark.
 */
const COPY = '"unfinished copy" '

/** The sessions: their keys, the length of their logs and their leases. */
export class SessionRows {
  readonly #clock: LeaseClock
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #list: StatementSync
  readonly #oldest: StatementSync
  readonly #newest: StatementSync
  readonly #count: StatementSync
  readonly #delete: StatementSync
  readonly #nextEpoch: StatementSync
  readonly #claim: StatementSync
  readonly #renew: StatementSync
  readonly #release: StatementSync
  readonly #advance: StatementSync
  readonly #interrupted: StatementSync
  readonly #copies: StatementSync
  readonly #complete: StatementSync

  constructor(database: Database, clock: LeaseClock) {
    this.#clock = clock
    const ofKey = 'app = ? AND user = ? AND session = ?'
    this.#insert = database.prepare(
      `INSERT INTO toolwright_sessions (app, user, session, seq, epoch, expires_at, updated_at)
       VALUES (?, ?, ?, 0, ${FREE}, 0, ?) ON CONFLICT DO NOTHING`,
    )
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM toolwright_sessions WHERE ${ofKey}`)
    this.#list = database.prepare(`SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? AND user = ? ORDER BY id`)
    const ofUser = `SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? AND user = ?`
    this.#oldest = database.prepare(`${ofUser} AND id > ? ORDER BY id LIMIT ?`)
    this.#newest = database.prepare(`${ofUser} AND id < ? ORDER BY id DESC LIMIT ?`)
    this.#count = database.prepare('SELECT count(*) AS count FROM toolwright_sessions WHERE app = ? AND user = ?')
    this.#delete = database.prepare('DELETE FROM toolwright_sessions WHERE id = ?')
    // One counter per file, so that a lease on a deleted session is invalid for a new session with the same key. max()
    // repairs a counter that is below an epoch in use.
    this.#nextEpoch = database.prepare(
      "UPDATE toolwright_meta SET value = max(value, ?) + 1 WHERE name = 'epoch' RETURNING value",
    )
    this.#claim = database.prepare(
      `UPDATE toolwright_sessions SET epoch = ?, lease_epoch = ?, expires_at = ?, lease_until = ?, lease_ms = ?
       WHERE id = ?`,
    )
    this.#renew = database.prepare(
      `UPDATE toolwright_sessions SET lease_epoch = epoch, expires_at = ?, lease_until = ?, lease_ms = ?
       WHERE ${ofKey} AND epoch = ?`,
    )
    this.#copies = database.prepare(`SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? ORDER BY id`)
    this.#complete = database.prepare('UPDATE OR IGNORE toolwright_sessions SET app = ? WHERE id = ?')
    this.#release = database.prepare(`UPDATE toolwright_sessions SET epoch = ${FREE} WHERE ${ofKey} AND epoch = ?`)
    this.#advance = database.prepare('UPDATE toolwright_sessions SET seq = ?, updated_at = ? WHERE id = ?')
    this.#interrupted = database.prepare(
      `SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? AND epoch <> ${FREE} ORDER BY id`,
    )
  }

  /** Inserts a session; false when it exists. */
  insert(key: SessionKey, now: number): boolean {
    return this.#insert.run(...keyColumns(key), now).changes > 0
  }

  /** Inserts an unfinished copy; false when a copy with this key exists. */
  insertCopy(key: SessionKey, now: number): boolean {
    return this.#insert.run(...copyColumns(key), now).changes > 0
  }

  /** Finds the row of a session. */
  find(key: SessionKey): SessionRow | undefined {
    const row = this.#find.get(...keyColumns(key)) as SessionRow | undefined
    return row && checkRow(row)
  }

  /** Finds the row of an unfinished copy. */
  findCopy(key: SessionKey): SessionRow | undefined {
    const row = this.#find.get(...copyColumns(key)) as SessionRow | undefined
    return row && ofCopy(checkRow(row))
  }

  /** Makes an unfinished copy a session; false when another session has its key. */
  completeCopy({ id, app }: SessionRow): boolean {
    return this.#complete.run(app, id).changes > 0
  }

  /** Lists the unfinished copies whose holder died. */
  deadCopies(appName: string): SessionRow[] {
    const copies = this.#copies.all(COPY + toText(appName)) as unknown[] as SessionRow[]
    return copies.filter((row) => !this.isAlive(row)).map((row) => ofCopy(checkRow(row)))
  }

  /** Lists the sessions of a user in order of creation. */
  list({ appName, userId }: { appName: string; userId: string }): SessionRow[] {
    return (this.#list.all(toText(appName), toText(userId)) as unknown[] as SessionRow[]).map(checkRow)
  }

  /** At most `limit` sessions of a user after a row, in order of creation or the newest first. */
  page(
    { appName, userId }: { appName: string; userId: string },
    { after, limit, newestFirst }: { after: number; limit: number; newestFirst: boolean },
  ): SessionRow[] {
    const statement = newestFirst ? this.#newest : this.#oldest
    const from = newestFirst && after === 0 ? Number.MAX_SAFE_INTEGER : after
    return (statement.all(toText(appName), toText(userId), from, limit) as unknown[] as SessionRow[]).map(checkRow)
  }

  /** Counts the sessions of a user. */
  count({ appName, userId }: { appName: string; userId: string }): number {
    return Number(this.#count.get(toText(appName), toText(userId))?.count)
  }

  /** Deletes a session; foreign keys delete its entries, inbox items and requests. */
  delete(id: number): void {
    this.#delete.run(id)
  }

  /** Claims a session and returns the epoch; undefined while another lease is alive. Call it in a transaction. */
  claim(row: SessionRow): number | undefined {
    if (this.isAlive(row)) return undefined
    const epoch = this.#nextEpoch.get(row.epoch)?.value
    if (typeof epoch !== 'number') throw damaged('The lease counter')
    const { now, monotonicNow, leaseMs } = this.#clock
    this.#claim.run(epoch, epoch, now() + leaseMs, monotonicNow() + leaseMs, leaseMs, row.id)
    return epoch
  }

  /**
   * Whether the session has a lease that has not ended. A lease that ends later than its own length from now was made
   * before the machine restarted: its holder is dead.
   */
  isAlive({ epoch, lease_epoch, lease_until, lease_ms, expires_at }: SessionRow): boolean {
    if (epoch === FREE) return false
    if (lease_epoch === epoch) {
      const now = this.#clock.monotonicNow()
      return now < lease_until && lease_until <= now + Math.min(lease_ms, MAX_LEASE_MS)
    }
    // a lease of schema version 1, which has no monotonic clock and no stored length
    const now = this.#clock.now()
    return now < expires_at && expires_at <= now + Math.max(this.#clock.leaseMs, DEFAULT_LEASE_MS)
  }

  /** Finds the session, or the unfinished copy, of a lease; undefined after another claim. The epoch decides, not the clock. */
  findHeld({ key, epoch }: HeldLease): SessionRow | undefined {
    if (!isEpoch(epoch)) return undefined
    const row = this.find(key)
    return row?.epoch === epoch ? row : this.findHeldCopy({ key, epoch })
  }

  /** Finds the unfinished copy of a lease. */
  findHeldCopy({ key, epoch }: HeldLease): SessionRow | undefined {
    const copy = isEpoch(epoch) ? this.findCopy(key) : undefined
    return copy?.epoch === epoch ? copy : undefined
  }

  /** Extends a lease; false when it is lost. */
  renew({ key, epoch }: HeldLease): boolean {
    if (!isEpoch(epoch)) return false
    const { now, monotonicNow, leaseMs } = this.#clock
    const ends = [now() + leaseMs, monotonicNow() + leaseMs, leaseMs]
    if (this.#renew.run(...ends, ...keyColumns(key), epoch).changes > 0) return true
    return this.#renew.run(...ends, ...copyColumns(key), epoch).changes > 0
  }

  /** Ends the lease of a session; false when there is none. */
  release({ key, epoch }: HeldLease): boolean {
    return isEpoch(epoch) && this.#release.run(...keyColumns(key), epoch).changes > 0
  }

  /** Ends a lease but keeps its epoch, which marks the session as interrupted. False when there is none. */
  interrupt({ key, epoch }: HeldLease): boolean {
    return isEpoch(epoch) && this.#renew.run(0, 0, 0, ...keyColumns(key), epoch).changes > 0
  }

  /** Sets the sequence number of the last entry and the time of the append. */
  advance(id: number, seq: number, now: number): void {
    this.#advance.run(seq, now, id)
  }

  /** Lists the sessions whose holder died or was interrupted. */
  interrupted(appName: string): SessionRow[] {
    const held = this.#interrupted.all(toText(appName)) as unknown[] as SessionRow[]
    return held.filter((row) => !this.isAlive(row))
  }
}

/** Throws STORAGE for values that have the declared type but are impossible. */
function checkRow(row: SessionRow): SessionRow {
  const { seq, epoch, updated_at } = row
  const isSound = Number.isSafeInteger(seq) && seq >= 0 && Number.isSafeInteger(epoch) && epoch >= 0
  if (isSound && Number.isFinite(updated_at)) return row
  throw damaged(`The row of session "${String(row.session)}"`)
}

/** The row of a copy with the app name it will have. */
function ofCopy(row: SessionRow): SessionRow {
  return { ...row, app: row.app.slice(COPY.length) }
}

/** Decodes the key of a session. */
export function keyOf({ app, user, session }: SessionRow): SessionKey {
  const what = 'The id of a session'
  return { appName: fromText(app, what), userId: fromText(user, what), sessionId: fromText(session, what) }
}

/** Whether a number can be an epoch. A caller may pass an invented lease. */
const isEpoch = (epoch: number): boolean => Number.isSafeInteger(epoch) && epoch > FREE

function keyColumns({ appName, userId, sessionId }: SessionKey): [string, string, string] {
  return [toText(appName), toText(userId), toText(sessionId)]
}

function copyColumns(key: SessionKey): [string, string, string] {
  const [app, ...rest] = keyColumns(key)
  return [COPY + app, ...rest]
}
