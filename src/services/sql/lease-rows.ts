import { DEFAULT_LEASE_MS, MAX_LEASE_MS } from '../session/lease.ts'
import { readPagePosition, takePage } from '../session/page.ts'
import type { ClaimOptions, Lease, Page, PageOptions, SessionKey, SetAsideSession } from '../session/service.ts'
import { damaged } from './damaged.ts'
import { fromText, toText } from './escaped-text.ts'
import {
  checkRow,
  copiesOf,
  copyColumns,
  type KeyColumns,
  keyColumns,
  keyOf,
  OF_KEY,
  ofCopy,
  type SessionRow,
  STORED_COLUMNS,
  type UpdatedRow,
} from './session-row.ts'
import { FREE, type HeldLease, isEpoch } from './session-rows.ts'
import { changesOf, command, query, rowOf, rowsOf, type SqlDatabase, type SqlWork, type Statement } from './sql.ts'
import { versionColumns } from './state-versions.ts'

/** A session that can be claimed. */
export interface ClaimableRow extends SessionRow {
  /** The epoch of the next lease. */
  readonly next_epoch: unknown
}

/** What a claim gives besides the session. */
type ClaimedLease = Pick<Lease, 'epoch' | 'crashes' | 'lastHeldMs'>

/** A session whose lease was extended. */
export type RenewedRow = UpdatedRow & Pick<SessionRow, 'seq'>

/** The clock of processes, and the length of leases. */
interface LeaseOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Length of a new lease. */
  readonly leaseMs: number
}

/** The leases of sessions. They end on the clock of the database. */
export class LeaseRows {
  readonly #database: SqlDatabase
  readonly #options: LeaseOptions
  readonly #lock: Statement
  readonly #claim: Statement
  readonly #renew: Statement
  readonly #release: Statement
  readonly #interrupt: Statement
  readonly #setAside: Statement
  readonly #listSetAside: Statement
  readonly #listSetAsideOfUser: Statement
  readonly #held: Statement
  readonly #copies: Statement
  readonly #lockCopies: Statement
  readonly #withInbox: Statement

  constructor(database: SqlDatabase, options: LeaseOptions) {
    const { leaseTime, nextEpoch, forUpdate } = database.dialect
    const columns = `${STORED_COLUMNS}, ${leaseTime} AS lease_now`
    const claimable = `SELECT ${columns}, ${nextEpoch} AS next_epoch FROM toolwright_sessions`
    this.#database = database
    this.#options = options
    this.#lock = query(`${claimable} WHERE ${OF_KEY}${forUpdate}`)
    this.#claim = command(
      `UPDATE toolwright_sessions SET epoch = ?, lease_epoch = ?, expires_at = ?, lease_until = ?, lease_ms = ?,
         holder = ?, crashes = ?, set_aside = NULL
       WHERE id = ?`,
    )
    this.#renew = query(
      `UPDATE toolwright_sessions SET lease_epoch = epoch, expires_at = ?, lease_until = ${leaseTime} + ?, lease_ms = ?
       WHERE ${OF_KEY} AND epoch = ? AND NOT (lease_epoch = epoch AND lease_until = 0)
       RETURNING id, seq${versionColumns(database)}`, // a late renewal brings no interrupted lease back to life
    )
    this.#release = command(`UPDATE toolwright_sessions SET epoch = ${FREE}, crashes = 0 WHERE ${OF_KEY} AND epoch = ?`)
    this.#setAside = command(
      `UPDATE toolwright_sessions SET epoch = ${FREE}, set_aside = ? WHERE ${OF_KEY} AND epoch = ?`,
    )
    const ofApp = `SELECT ${columns} FROM toolwright_sessions WHERE app = ? AND set_aside IS NOT NULL AND id > ?`
    this.#listSetAside = query(`${ofApp} ORDER BY id LIMIT ?`)
    this.#listSetAsideOfUser = query(`${ofApp} AND "user" = ? ORDER BY id LIMIT ?`)
    this.#interrupt = command(
      `UPDATE toolwright_sessions SET lease_epoch = epoch, expires_at = 0, lease_until = 0, lease_ms = 0
       WHERE ${OF_KEY} AND epoch = ?`,
    )
    this.#held = query(`SELECT ${columns} FROM toolwright_sessions WHERE app = ? AND epoch <> ${FREE} ORDER BY id`)
    this.#copies = query(`SELECT ${columns} FROM toolwright_sessions WHERE app = ? ORDER BY id`)
    this.#lockCopies = query(`${claimable} WHERE app = ? ORDER BY id${forUpdate}`)
    // starts with the few sessions that have items; an alive lease is left out here, so that LIMIT counts the others
    this.#withInbox = query(
      `SELECT ${columns} FROM (
         SELECT session AS waiting, min(id) AS oldest FROM toolwright_inbox WHERE body IS NOT NULL GROUP BY session
       ) AS items CROSS JOIN toolwright_sessions
       WHERE id = waiting AND app = ? AND set_aside IS NULL
         AND NOT (epoch <> ${FREE} AND lease_epoch = epoch AND lease_until > ${leaseTime}
                  AND lease_until <= ${leaseTime} + 2 * lease_ms)
       ORDER BY oldest LIMIT ?`,
    )
  }

  /** Length of a new lease. */
  get leaseMs(): number {
    return this.#options.leaseMs
  }

  /** Finds a session to claim it. */
  lock(key: SessionKey): SqlWork<ClaimableRow | undefined> {
    return this.#lockRow(keyColumns(key))
  }

  /** Finds an unfinished copy to claim it. */
  *lockCopy(key: SessionKey): SqlWork<ClaimableRow | undefined> {
    const row = yield* this.#lockRow(copyColumns(key))
    return row && { ...row, app: ofCopy(row).app }
  }

  /** Claims a session; undefined while another lease is alive, unless it is to be taken over. */
  *claim(row: ClaimableRow, { takeOver }: ClaimOptions = {}): SqlWork<ClaimedLease | undefined> {
    const holder = takeOver === undefined ? null : toText(takeOver)
    if (this.isAlive(row) && (holder === null || holder !== row.holder)) return undefined
    if (typeof row.next_epoch !== 'number') throw damaged('The lease counter')
    const epoch = Math.max(row.next_epoch, row.epoch + 1) // a counter that was set back may be below an epoch in use
    const { now, leaseMs } = this.#options
    const isLost = hasLostHolder(row)
    const crashes = row.crashes + (isLost ? 1 : 0)
    const ends = [now() + leaseMs, row.lease_now + leaseMs, leaseMs]
    yield* changesOf(this.#claim, epoch, epoch, ...ends, holder, crashes, row.id)
    const { saveEpoch } = this.#database.dialect
    if (saveEpoch) yield* changesOf(saveEpoch, epoch)
    return { epoch, crashes, ...(isLost && { lastHeldMs: lastHeldMs(row) }) }
  }

  /**
   * Whether the session has a lease that has not ended. A lease that ends much later than its own length from now was made before
   * the clock of leases was set back, as a restart of the machine does: its holder is dead. A little later is possible: a statement
   * with the time of its process may have waited for the one that made the lease.
   */
  isAlive({ epoch, lease_epoch, lease_until, lease_ms, lease_now, expires_at }: SessionRow): boolean {
    if (epoch === FREE) return false
    if (lease_epoch === epoch)
      return lease_now < lease_until && lease_until <= lease_now + 2 * Math.min(lease_ms, MAX_LEASE_MS)
    // a lease of schema version 1, which has no monotonic clock and no stored length
    const now = this.#options.now()
    return now < expires_at && expires_at <= now + Math.max(this.#options.leaseMs, DEFAULT_LEASE_MS)
  }

  /** Extends a lease, and returns the row; undefined when it is lost. */
  *renew({ key, epoch }: HeldLease): SqlWork<RenewedRow | undefined> {
    if (!isEpoch(epoch)) return undefined
    const { now, leaseMs } = this.#options
    const ends = [now() + leaseMs, this.#database.leaseTime(), leaseMs, leaseMs]
    const session = yield* rowOf(this.#renew, ...ends, ...keyColumns(key), epoch)
    return (session ?? (yield* rowOf(this.#renew, ...ends, ...copyColumns(key), epoch))) as RenewedRow | undefined
  }

  /** Ends the lease of a session; false when there is none. */
  *release({ key, epoch }: HeldLease): SqlWork<boolean> {
    return isEpoch(epoch) && (yield* changesOf(this.#release, ...keyColumns(key), epoch)) > 0
  }

  /** Ends a lease but keeps its epoch, which marks the session as interrupted. False when there is none. */
  *interrupt({ key, epoch }: HeldLease): SqlWork<boolean> {
    return isEpoch(epoch) && (yield* changesOf(this.#interrupt, ...keyColumns(key), epoch)) > 0
  }

  /** Ends a lease, and keeps workers away from the session. False when there is none. */
  *setAside({ key, epoch }: HeldLease, reason: string): SqlWork<boolean> {
    return isEpoch(epoch) && (yield* changesOf(this.#setAside, toText(reason), ...keyColumns(key), epoch)) > 0
  }

  /** A part of the sessions that were set aside. */
  *setAsidePage(
    filter: { appName: string; userId?: string | undefined } & PageOptions,
  ): SqlWork<Page<SetAsideSession>> {
    const { appName, userId, limit } = filter
    const from = [this.#database.leaseTime(), toText(appName), readPagePosition(filter)]
    const rows =
      userId === undefined
        ? rowsOf(this.#listSetAside, ...from, limit + 1)
        : rowsOf(this.#listSetAsideOfUser, ...from, toText(userId), limit + 1)
    return takePage((yield* rows).map(checkRow), filter, (row) => {
      const reason = fromText(row.set_aside ?? '', 'The reason why a session was set aside')
      return { item: { ...keyOf(row), reason }, position: row.id, bytes: 0 }
    })
  }

  /** Lists the sessions whose holder died or was interrupted. */
  *interrupted(appName: string): SqlWork<SessionKey[]> {
    const held = (yield* rowsOf(this.#held, this.#database.leaseTime(), toText(appName))) as unknown[] as SessionRow[]
    return held.filter((row) => !this.isAlive(row)).map(keyOf)
  }

  /** Whether an app has unfinished copies whose holder died. */
  *hasDeadCopies(appName: string): SqlWork<boolean> {
    const copies = yield* rowsOf(this.#copies, this.#database.leaseTime(), copiesOf(appName))
    return (copies as unknown[] as SessionRow[]).some((row) => !this.isAlive(row))
  }

  /** Lists the unfinished copies whose holder died, to claim them. */
  *lockDeadCopies(appName: string): SqlWork<ClaimableRow[]> {
    const copies = yield* rowsOf(this.#lockCopies, this.#database.leaseTime(), copiesOf(appName))
    const dead = (copies as unknown[] as ClaimableRow[]).filter((row) => !this.isAlive(row))
    return dead.map((row) => ({ ...row, app: ofCopy(checkRow(row as never)).app }))
  }

  /** Lists the sessions with inbox items that no holder drains, the longest waiting first. */
  *withInbox(appName: string, limit: number): SqlWork<SessionKey[]> {
    readPagePosition({ limit }) // throws for a limit that is not valid
    const time = this.#database.leaseTime()
    const rows = yield* rowsOf(this.#withInbox, time, toText(appName), time, time, limit)
    return (rows as unknown[] as SessionRow[]).filter((row) => !this.isAlive(row)).map(keyOf)
  }

  *#lockRow(columns: KeyColumns): SqlWork<ClaimableRow | undefined> {
    const row = yield* rowOf(this.#lock, this.#database.leaseTime(), ...columns)
    return row && { ...checkRow(row), next_epoch: row.next_epoch }
  }
}

/** How long ago a lease was claimed or renewed; undefined if its clock has begun again since. */
function lastHeldMs({ epoch, lease_epoch, lease_until, lease_ms, lease_now }: SessionRow): number | undefined {
  const age = lease_now - (lease_until - lease_ms)
  return lease_epoch === epoch && age >= 0 ? age : undefined
}

/** Has the latest holder neither released the lease nor left it as interrupted? */
function hasLostHolder({ epoch, lease_epoch, lease_until }: SessionRow): boolean {
  return epoch !== FREE && (lease_epoch !== epoch || lease_until > 0)
}
