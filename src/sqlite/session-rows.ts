import type { StatementSync } from 'node:sqlite'
import { DEFAULT_LEASE_MS, MAX_LEASE_MS } from '../session/lease.ts'
import type { Lease, SessionKey } from '../session/service.ts'
import type { Database } from './database.ts'
import { damaged } from './storage-error.ts'
import { fromText, toText } from './text.ts'

/** The row of a session. The tables are strict: what a column is declared as it is. */
export interface SessionRow {
  readonly id: number
  readonly app: string
  readonly user: string
  readonly session: string
  readonly seq: number
  readonly epoch: number
  /** Of the lease, in milliseconds since 1970: what processes of version 1 go by. */
  readonly expires_at: number
  readonly updated_at: number
  readonly lease_epoch: number
  /** Of the lease, in milliseconds since boot. */
  readonly lease_until: number
  readonly lease_ms: number
}

/** What a lease gives the right by. */
type Held = Pick<Lease, 'key' | 'epoch'>

/** How leases are measured. */
export interface LeaseClock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds since boot, the same for all processes. */
  readonly monotonicNow: () => number
  readonly leaseMs: number
}

/** The epoch of a session nobody holds. */
const FREE = 0

/** All but `checkpoint`, which is no longer used. */
const COLUMNS = 'id, app, user, session, seq, epoch, expires_at, updated_at, lease_epoch, lease_until, lease_ms'

/** Sessions without what they hold: who they are, where their logs are, and who may write. */
export class SessionRows {
  readonly #clock: LeaseClock
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #list: StatementSync
  readonly #delete: StatementSync
  readonly #nextEpoch: StatementSync
  readonly #claim: StatementSync
  readonly #renew: StatementSync
  readonly #release: StatementSync
  readonly #advance: StatementSync
  readonly #interrupted: StatementSync

  constructor(database: Database, clock: LeaseClock) {
    this.#clock = clock
    const ofKey = 'app = ? AND user = ? AND session = ?'
    this.#insert = database.prepare(
      `INSERT INTO toolwright_sessions (app, user, session, seq, epoch, expires_at, updated_at)
       VALUES (?, ?, ?, 0, ${FREE}, 0, ?) ON CONFLICT DO NOTHING`,
    )
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM toolwright_sessions WHERE ${ofKey}`)
    this.#list = database.prepare(`SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? AND user = ? ORDER BY id`)
    this.#delete = database.prepare('DELETE FROM toolwright_sessions WHERE id = ?')
    // One counter for the file: a lease on a deleted session is not one on its namesake. Never below an epoch in use.
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
    this.#release = database.prepare(`UPDATE toolwright_sessions SET epoch = ${FREE} WHERE ${ofKey} AND epoch = ?`)
    this.#advance = database.prepare('UPDATE toolwright_sessions SET seq = ?, updated_at = ? WHERE id = ?')
    this.#interrupted = database.prepare(
      `SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? AND epoch <> ${FREE} ORDER BY id`,
    )
  }

  /** False when there is one already. */
  insert(key: SessionKey, now: number): boolean {
    return this.#insert.run(...textOf(key), now).changes > 0
  }

  find(key: SessionKey): SessionRow | undefined {
    const row = this.#find.get(...textOf(key)) as SessionRow | undefined
    return row && checked(row)
  }

  list({ appName, userId }: { appName: string; userId: string }): SessionRow[] {
    return (this.#list.all(toText(appName), toText(userId)) as unknown[] as SessionRow[]).map(checked)
  }

  delete(id: number): void {
    this.#delete.run(id)
  }

  /** Gives the row a new holder, unless it has one that lives. Inside a transaction. */
  claim(row: SessionRow): number | undefined {
    if (this.isAlive(row)) return undefined
    const epoch = this.#nextEpoch.get(row.epoch)?.value
    if (typeof epoch !== 'number') throw damaged('The counter of leases')
    const { now, monotonicNow, leaseMs } = this.#clock
    this.#claim.run(epoch, epoch, now() + leaseMs, monotonicNow() + leaseMs, leaseMs, row.id)
    return epoch
  }

  /**
   * Is there a holder whose lease has not ended? A lease that ends later than its own length from now is from before the
   * machine was restarted: its holder is dead.
   */
  isAlive({ epoch, lease_epoch, lease_until, lease_ms, expires_at }: SessionRow): boolean {
    if (epoch === FREE) return false
    if (lease_epoch === epoch) {
      const now = this.#clock.monotonicNow()
      return now < lease_until && lease_until <= now + Math.min(lease_ms, MAX_LEASE_MS)
    }
    // of a process of version 1, which had no other clock and did not store the length
    const now = this.#clock.now()
    return now < expires_at && expires_at <= now + Math.max(this.#clock.leaseMs, DEFAULT_LEASE_MS)
  }

  /** The session of a lease, while nobody has followed its holder: the epoch fences, not the clock. */
  held({ key, epoch }: Held): SessionRow | undefined {
    if (!isEpoch(epoch)) return undefined
    const row = this.find(key)
    return row?.epoch === epoch ? row : undefined
  }

  /** False when the lease is lost. */
  renew({ key, epoch }: Held): boolean {
    if (!isEpoch(epoch)) return false
    const { now, monotonicNow, leaseMs } = this.#clock
    const ends = [now() + leaseMs, monotonicNow() + leaseMs, leaseMs]
    return this.#renew.run(...ends, ...textOf(key), epoch).changes > 0
  }

  release({ key, epoch }: Held): void {
    if (isEpoch(epoch)) this.#release.run(...textOf(key), epoch)
  }

  /** Ends the lease and keeps its epoch: the session counts as interrupted. */
  interrupt({ key, epoch }: Held): void {
    if (isEpoch(epoch)) this.#renew.run(0, 0, 0, ...textOf(key), epoch)
  }

  advance(id: number, seq: number, now: number): void {
    this.#advance.run(seq, now, id)
  }

  interrupted(appName: string): SessionRow[] {
    const held = this.#interrupted.all(toText(appName)) as unknown[] as SessionRow[]
    return held.filter((row) => !this.isAlive(row))
  }
}

/** Strict tables hold what a column is declared as, but not only what makes sense. */
function checked(row: SessionRow): SessionRow {
  const { seq, epoch, updated_at } = row
  const isSound = Number.isSafeInteger(seq) && seq >= 0 && Number.isSafeInteger(epoch) && epoch >= 0
  if (isSound && Number.isFinite(updated_at)) return row
  throw damaged(`The row of session "${String(row.session)}"`)
}

export function keyOf({ app, user, session }: SessionRow): SessionKey {
  const what = 'The id of a session'
  return { appName: fromText(app, what), userId: fromText(user, what), sessionId: fromText(session, what) }
}

/** The epoch of a lease that may have been made up. */
function isEpoch(epoch: number): boolean {
  return Number.isSafeInteger(epoch) && epoch > FREE
}

function textOf({ appName, userId, sessionId }: SessionKey): [string, string, string] {
  return [toText(appName), toText(userId), toText(sessionId)]
}
