import { isRecord } from '../../core/base/json.ts'
import { systemPorts } from '../../core/base/ports.ts'
import { checkSlot } from '../limit/check-slot.ts'
import type { FreedSlot, LimitKey, LimitService, SlotAnswer, SlotRequest } from '../limit/service.ts'
import { checkId, checkUser } from '../session/check-key.ts'
import { LimitRows, type LockedLimit } from './limit-rows.ts'
import { changeLimit, takeSlot } from './limit-rules.ts'
import { MAX_MESSAGE_BYTES, query, rowsOf, type SqlDatabase, type SqlWork, type Statement } from './sql.ts'

type Listener = (freed?: FreedSlot) => void

/** How often a process looks for limits that nothing uses any more, in milliseconds. */
const CLEAN_MS = 60_000

/** The most tickets in one message about free slots. The other processes ask by themselves. */
const MAX_TOLD = 10

/** Stores limits in a SQL database. */
export class SqlLimitService implements LimitService {
  readonly #database: SqlDatabase
  readonly #rows: LimitRows
  readonly #listeners: Set<Listener> = new Set()
  readonly #announce: Statement | undefined
  #stopWatching: (() => void) | undefined
  #cleanedAt = Number.NEGATIVE_INFINITY

  constructor(database: SqlDatabase) {
    const { notify } = database.dialect
    this.#database = database
    this.#rows = new LimitRows(database)
    this.#announce = notify === undefined ? undefined : query(`SELECT ${notify} AS sent`)
  }

  /** Takes a slot, or a place in line. */
  async take(request: SlotRequest): Promise<SlotAnswer> {
    checkSlot(request)
    const answer = await this.#database.write(() => takeSlot(this.#rows, request))
    this.#cleanSometimes()
    return answer
  }

  /** Starts the leases of all slots of a holder again. */
  async renew({ holder, leaseMs }: { readonly holder: string; readonly leaseMs: number }): Promise<void> {
    checkId('The holder of a slot', holder)
    await this.#database.write(() => this.#rows.renew(holder, leaseMs))
  }

  /** Gives a slot back. */
  async release({ slotId, ...key }: LimitKey & { readonly slotId: string }): Promise<void> {
    await this.#change(key, () => this.#rows.deleteSlot(slotId))
  }

  /** Gives up a place in line. */
  async leave({
    userId,
    ticket,
    ...key
  }: LimitKey & { readonly userId: string; readonly ticket: string }): Promise<void> {
    await this.#change(key, (limit) => this.#rows.deletePlace(limit, { userId, ticket }))
  }

  /** Deletes slots and places of a user. */
  async deleteUser(user: { readonly appName: string; readonly userId: string }): Promise<void> {
    checkUser(user)
    const limits = await this.#database.read(() => this.#rows.ofUser(user))
    for (const key of limits) await this.#change(key, (limit) => this.#rows.deleteOfUser(limit, user))
  }

  /** Calls the listener when one who waits can take a slot, until the returned function is called. */
  watch(listener: Listener): () => void {
    const own: Listener = (freed) => listener(freed) // the same function may watch twice
    this.#listeners.add(own)
    this.#stopWatching ??= this.#database.watch?.((message = '') => {
      const freed = toFreed(message)
      if (freed || message === '') this.#tell(freed)
    })
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size > 0) return
      this.#stopWatching?.()
      this.#stopWatching = undefined
    }
  }

  async #change(key: LimitKey, change: (limit: LockedLimit) => SqlWork<void>): Promise<void> {
    const [rows, announce] = [this.#rows, this.#announce]
    const freed = await this.#database.write(function* () {
      const freed = (yield* changeLimit(rows, key, change)).slice(0, MAX_TOLD)
      if (announce) for (const one of freed) yield* rowsOf(announce, toMessage(one))
      return freed
    })
    for (const one of freed) this.#tell(one)
  }

  #tell(freed?: FreedSlot): void {
    // later: what a listener does must not delay the change
    for (const listener of this.#listeners) queueMicrotask(() => this.#listeners.has(listener) && listener(freed))
  }

  /** Deletes what dead processes have left. Not awaited: nothing depends on it. */
  #cleanSometimes(): void {
    const now = systemPorts.monotonicNow()
    if (now - this.#cleanedAt < CLEAN_MS) return
    this.#cleanedAt = now
    this.#clean().catch(() => {}) // another process, or the next time, cleans
  }

  async #clean(): Promise<void> {
    const limits = await this.#database.read(() => this.#rows.withEnded())
    for (const key of limits) await this.#change(key, (limit) => this.#rows.deleteEnded(limit))
  }
}

/** Marks the messages about slots among those of the database. */
const SLOT = 'slot'

/** A message without a ticket makes all who wait ask. */
function toMessage({ appName, ticket }: FreedSlot): string {
  const text = JSON.stringify({ [SLOT]: [appName, ticket] })
  return new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES ? '' : text
}

/** Undefined for a message about something else. */
function toFreed(message: string): FreedSlot | undefined {
  try {
    const parsed: unknown = JSON.parse(message)
    const slot: unknown = isRecord(parsed) ? parsed[SLOT] : undefined
    if (!Array.isArray(slot)) return undefined
    const [appName, ticket] = slot
    return typeof appName === 'string' && typeof ticket === 'string' ? { appName, ticket } : undefined
  } catch {
    return undefined
  }
}

/** Is it a message about a slot? Others need not read it. */
export function isSlotMessage(message: string): boolean {
  return message.startsWith(`{"${SLOT}":`)
}
