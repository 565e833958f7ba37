// The rows of limits. A limit has a row while it has slots or places in line, and its lock is taken before they change.
import type { Waiting } from '../limit/next-in-line.ts'
import type { LimitKey, PlaceInLine, SlotRequest } from '../limit/service.ts'
import { fromText, toText } from './escaped-text.ts'
import {
  changesOf,
  command,
  query,
  rowOf,
  rowsOf,
  type SqlDatabase,
  type SqlRow,
  type SqlValue,
  type SqlWork,
  type Statement,
} from './sql.ts'

/** A limit whose row is locked. */
export interface LockedLimit {
  /** The row. */
  readonly id: number
  /** How many slots the limit has. */
  readonly max: number
}

/** The slots of a limit that are taken. */
export interface TakenSlots {
  /** Their number, by user. */
  readonly byUser: ReadonlyMap<string, number>
  /** Milliseconds until the first lease ends; undefined if none is taken. */
  readonly firstEndMs: number | undefined
}

/** A place in line, as it is stored. */
export interface StoredPlace extends Waiting {
  /** Milliseconds until it is lost. */
  readonly endMs: number
}

/** The most limits that are cleaned at once. */
const MAX_CLEANED = 100

const FIND_ALL_OF_USER = query(
  `SELECT DISTINCT owners.app, owners.name FROM toolwright_limits AS owners WHERE id IN (
     SELECT owner FROM toolwright_slots WHERE app = ? AND "user" = ?
     UNION SELECT owner FROM toolwright_slot_places WHERE app = ? AND "user" = ?)`,
)
const INSERT = query(
  `INSERT INTO toolwright_limits (app, name, max) VALUES (?, ?, ?)
   ON CONFLICT (app, name) DO UPDATE SET max = excluded.max RETURNING id`,
)
const SET_MAX = command('UPDATE toolwright_limits SET max = ? WHERE id = ?')
const DELETE_IF_EMPTY = command(
  `DELETE FROM toolwright_limits WHERE id = ?
     AND NOT EXISTS (SELECT 1 FROM toolwright_slots WHERE owner = toolwright_limits.id)
     AND NOT EXISTS (SELECT 1 FROM toolwright_slot_places WHERE owner = toolwright_limits.id)`,
)
const IS_TAKEN = query('SELECT slot FROM toolwright_slots WHERE slot = ?')
const DELETE_SLOT = command('DELETE FROM toolwright_slots WHERE slot = ?')
const DELETE_PLACE = command('DELETE FROM toolwright_slot_places WHERE owner = ? AND "user" = ? AND ticket = ?')
const DELETE_SLOTS_OF_USER = command('DELETE FROM toolwright_slots WHERE owner = ? AND app = ? AND "user" = ?')
const DELETE_PLACES_OF_USER = command('DELETE FROM toolwright_slot_places WHERE owner = ? AND app = ? AND "user" = ?')

/** Limits, their slots and their places in line. Times are on the clock of the database. */
export class LimitRows {
  readonly #database: SqlDatabase
  readonly #lock: Statement
  readonly #deleteEndedSlots: Statement
  readonly #deleteEndedPlaces: Statement
  readonly #taken: Statement
  readonly #places: Statement
  readonly #insertSlot: Statement
  readonly #insertPlace: Statement
  readonly #renew: Statement
  readonly #withEnded: Statement

  constructor(database: SqlDatabase) {
    const { leaseTime, forUpdate } = database.dialect
    // a lease that ends much later than its own length from now was made before the clock was set back, as a restart of the machine does
    const hasEnded = `(ends_at <= ${leaseTime} OR ends_at > ${leaseTime} + 2 * lease_ms)`
    this.#database = database
    this.#lock = query(`SELECT id, max FROM toolwright_limits WHERE app = ? AND name = ?${forUpdate}`)
    this.#deleteEndedSlots = command(`DELETE FROM toolwright_slots WHERE owner = ? AND ${hasEnded}`)
    this.#deleteEndedPlaces = command(`DELETE FROM toolwright_slot_places WHERE owner = ? AND ${hasEnded}`)
    this.#taken = query(
      `SELECT "user", count(*) AS taken, min(ends_at) - ${leaseTime} AS end_ms FROM toolwright_slots
       WHERE owner = ? GROUP BY "user"`,
    )
    this.#places = query(
      `SELECT id, "user", ticket, ends_at - ${leaseTime} AS end_ms FROM toolwright_slot_places WHERE owner = ? ORDER BY id`,
    )
    this.#insertSlot = command(
      `INSERT INTO toolwright_slots (slot, owner, app, "user", holder, ends_at, lease_ms)
       VALUES (?, ?, ?, ?, ?, ${leaseTime} + ?, ?)`,
    )
    this.#insertPlace = command(
      `INSERT INTO toolwright_slot_places (owner, app, "user", ticket, ends_at, lease_ms)
       VALUES (?, ?, ?, ?, ${leaseTime} + ?, ?)
       ON CONFLICT (owner, "user", ticket) DO UPDATE SET ends_at = excluded.ends_at, lease_ms = excluded.lease_ms`,
    )
    this.#renew = command(`UPDATE toolwright_slots SET ends_at = ${leaseTime} + ?, lease_ms = ? WHERE holder = ?`)
    this.#withEnded = query(
      `SELECT DISTINCT app, name FROM toolwright_limits WHERE id IN (
         SELECT owner FROM toolwright_slots WHERE ${hasEnded} UNION SELECT owner FROM toolwright_slot_places WHERE ${hasEnded})
       LIMIT ${MAX_CLEANED}`,
    )
  }

  /** Locks a limit; undefined if it has no slots and no places. */
  *lock({ appName, name }: LimitKey): SqlWork<LockedLimit | undefined> {
    const row = yield* rowOf(this.#lock, toText(appName), toText(name))
    return row && { id: Number(row.id), max: Number(row.max) }
  }

  /** Locks a limit, which is created if it does not exist. */
  *lockOrCreate({ appName, name, max }: LimitKey & { readonly max: number }): SqlWork<LockedLimit> {
    const known = yield* this.lock({ appName, name })
    if (!known) return { id: Number((yield* rowOf(INSERT, toText(appName), toText(name), max))?.id), max }
    if (known.max !== max) yield* changesOf(SET_MAX, max, known.id)
    return { ...known, max }
  }

  /** Deletes slots and places whose time has ended. */
  *deleteEnded({ id }: LockedLimit): SqlWork<void> {
    yield* changesOf(this.#deleteEndedSlots, id, ...this.#now(2))
    yield* changesOf(this.#deleteEndedPlaces, id, ...this.#now(2))
  }

  /** Deletes the limit if nothing is left of it. */
  *deleteIfEmpty({ id }: LockedLimit): SqlWork<void> {
    yield* changesOf(DELETE_IF_EMPTY, id)
  }

  /** The slots that are taken. */
  *taken({ id }: LockedLimit): SqlWork<TakenSlots> {
    const rows = yield* rowsOf(this.#taken, ...this.#now(1), id)
    const byUser = new Map(rows.map((row) => [userOf(row), Number(row.taken)]))
    return { byUser, firstEndMs: rows.length ? Math.min(...rows.map(({ end_ms }) => Number(end_ms))) : undefined }
  }

  /** The places in line, the oldest first. */
  *places({ id }: LockedLimit): SqlWork<StoredPlace[]> {
    const rows = yield* rowsOf(this.#places, ...this.#now(1), id)
    return rows.map((row) => ({
      userId: userOf(row),
      ticket: fromText(row.ticket, 'A place in line'),
      order: Number(row.id),
      endMs: Number(row.end_ms),
    }))
  }

  /** Is the slot taken? */
  *isTaken(slotId: string): SqlWork<boolean> {
    return (yield* rowOf(IS_TAKEN, toText(slotId))) !== undefined
  }

  /** Takes a slot. */
  *insertSlot({ id }: LockedLimit, { appName, slotId, userId, holder, leaseMs }: SlotRequest): SqlWork<void> {
    const owner = [id, toText(appName), toText(userId), toText(holder)] as const
    yield* changesOf(this.#insertSlot, toText(slotId), ...owner, ...this.#now(1), leaseMs, leaseMs)
  }

  /** Takes a place in line, or keeps it for longer. */
  *keepPlace({ id }: LockedLimit, { appName, userId }: SlotRequest, { ticket, waitMs }: PlaceInLine): SqlWork<void> {
    const owner = [id, toText(appName), toText(userId), toText(ticket)] as const
    yield* changesOf(this.#insertPlace, ...owner, ...this.#now(1), waitMs, waitMs)
  }

  /** Frees a slot. */
  *deleteSlot(slotId: string): SqlWork<void> {
    yield* changesOf(DELETE_SLOT, toText(slotId))
  }

  /** Frees a place in line. */
  *deletePlace({ id }: LockedLimit, { userId, ticket }: Pick<Waiting, 'userId' | 'ticket'>): SqlWork<void> {
    yield* changesOf(DELETE_PLACE, id, toText(userId), toText(ticket))
  }

  /** Deletes slots and places of a user. */
  *deleteOfUser({ id }: LockedLimit, user: { readonly appName: string; readonly userId: string }): SqlWork<void> {
    const owner = [id, toText(user.appName), toText(user.userId)] as const
    yield* changesOf(DELETE_SLOTS_OF_USER, ...owner)
    yield* changesOf(DELETE_PLACES_OF_USER, ...owner)
  }

  /** Starts the leases of a holder again. */
  *renew(holder: string, leaseMs: number): SqlWork<void> {
    yield* changesOf(this.#renew, ...this.#now(1), leaseMs, leaseMs, toText(holder))
  }

  /** The limits with something of a user. */
  *ofUser({ appName, userId }: { readonly appName: string; readonly userId: string }): SqlWork<LimitKey[]> {
    const user = [toText(appName), toText(userId)] as const
    return (yield* rowsOf(FIND_ALL_OF_USER, ...user, ...user)).map(keyOf)
  }

  /** Some limits with slots or places whose time has ended. */
  *withEnded(): SqlWork<LimitKey[]> {
    return (yield* rowsOf(this.#withEnded, ...this.#now(4))).map(keyOf)
  }

  /** The time, once for each `?` in a statement. */
  #now(times: number): SqlValue[] {
    return Array.from({ length: times }, () => this.#database.leaseTime())
  }
}

function userOf({ user }: SqlRow): string {
  return fromText(user, 'The user of a slot')
}

function keyOf({ app, name }: SqlRow): LimitKey {
  return { appName: fromText(app, 'The app of a limit'), name: fromText(name, 'The name of a limit') }
}
