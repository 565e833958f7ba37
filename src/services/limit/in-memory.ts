import { systemPorts } from '../../core/base/ports.ts'
import { checkUser } from '../session/check-key.ts'
import { checkSlot } from './check-slot.ts'
import { nextInLine, type Waiting } from './next-in-line.ts'
import type { FreedSlot, LimitKey, LimitService, SlotAnswer, SlotRequest } from './service.ts'

/** Options of `InMemoryLimitService`. */
export interface InMemoryLimitOptions {
  /** Milliseconds on a clock that is never set. Default: that of the system. */
  readonly monotonicNow?: (() => number) | undefined
}

interface Slot {
  readonly userId: string
  readonly holder: string
  endsAt: number
}

interface Place extends Waiting {
  endsAt: number
}

interface Limit {
  readonly appName: string
  max: number
  readonly slots: Map<string, Slot>
  /** By user and ticket. */
  readonly places: Map<string, Place>
}

type Listener = (freed?: FreedSlot) => void

/**
 * Keeps the limits of one process in memory.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, limitService: new InMemoryLimitService() })
 */
export class InMemoryLimitService implements LimitService {
  readonly #limits: Map<string, Limit> = new Map()
  readonly #listeners: Set<Listener> = new Set()
  readonly #now: () => number
  #lastOrder = 0
  #sweepAt = SWEEP_THRESHOLD

  constructor({ monotonicNow = systemPorts.monotonicNow }: InMemoryLimitOptions = {}) {
    this.#now = monotonicNow
  }

  /** The number of limits with slots or places. */
  get size(): number {
    return this.#limits.size
  }

  async take(request: SlotRequest): Promise<SlotAnswer> {
    checkSlot(request)
    const { userId, slotId, holder, leaseMs, place } = request
    const now = this.#now()
    const limit = this.#limitOf(request)
    removeEnded(limit, now)
    const placeId = JSON.stringify([userId, place?.ticket])
    const known = place && limit.places.get(placeId)
    const own: Waiting = known ?? { userId, ticket: place?.ticket ?? '', order: ++this.#lastOrder }
    const others = [...limit.places.values()].filter((one) => one !== known)
    const line = { max: limit.max, taken: takenIn(limit), waiting: [...others, own] }
    if (limit.slots.has(slotId) || nextInLine(line).includes(own)) {
      limit.places.delete(placeId)
      limit.slots.set(slotId, { userId, holder, endsAt: now + leaseMs })
      return { type: 'taken' }
    }
    if (place) limit.places.set(placeId, { ...own, endsAt: now + place.waitMs })
    let next = Number.POSITIVE_INFINITY
    for (const { endsAt } of [...limit.slots.values(), ...others]) next = Math.min(next, endsAt)
    return { type: 'full', retryAfterMs: Math.max(1, next - now) }
  }

  async renew({ holder, leaseMs }: { readonly holder: string; readonly leaseMs: number }): Promise<void> {
    const now = this.#now()
    for (const { slots } of this.#limits.values())
      for (const slot of slots.values()) if (slot.holder === holder && slot.endsAt > now) slot.endsAt = now + leaseMs
  }

  async release({ slotId, ...key }: LimitKey & { readonly slotId: string }): Promise<void> {
    this.#change(idOf(key), ({ slots }) => slots.delete(slotId))
  }

  async leave(place: LimitKey & { readonly userId: string; readonly ticket: string }): Promise<void> {
    this.#change(idOf(place), ({ places }) => places.delete(JSON.stringify([place.userId, place.ticket])))
  }

  async deleteUser(user: { readonly appName: string; readonly userId: string }): Promise<void> {
    checkUser(user)
    const isOfUser = ({ userId }: { readonly userId: string }): boolean => userId === user.userId
    for (const [id, { appName }] of this.#limits) {
      if (appName !== user.appName) continue
      this.#change(id, ({ slots, places }) => {
        for (const [slotId, slot] of slots) if (isOfUser(slot)) slots.delete(slotId)
        for (const [placeId, place] of places) if (isOfUser(place)) places.delete(placeId)
      })
    }
  }

  watch(listener: Listener): () => void {
    const own: Listener = (freed) => listener(freed) // the same function may watch twice
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  #limitOf({ max, ...key }: SlotRequest): Limit {
    const id = idOf(key)
    const known = this.#limits.get(id)
    if (known) known.max = max
    if (known) return known
    if (this.#limits.size >= this.#sweepAt) {
      for (const other of [...this.#limits.keys()]) this.#change(other, () => {})
      this.#sweepAt = Math.max(SWEEP_THRESHOLD, 2 * this.#limits.size)
    }
    const limit: Limit = { appName: key.appName, max, slots: new Map(), places: new Map() }
    this.#limits.set(id, limit)
    return limit
  }

  /** Removes something from a limit, then tells those who are next, or forgets the limit. */
  #change(id: string, change: (limit: Limit) => void): void {
    const limit = this.#limits.get(id)
    if (!limit) return
    change(limit)
    removeEnded(limit, this.#now())
    const waiting = [...limit.places.values()]
    if (limit.slots.size === 0 && waiting.length === 0) this.#limits.delete(id)
    for (const { ticket } of nextInLine({ max: limit.max, taken: takenIn(limit), waiting }))
      for (const listener of this.#listeners) queueMicrotask(() => listener({ appName: limit.appName, ticket }))
  }
}

/** Number of limits at which idle ones are removed. */
const SWEEP_THRESHOLD = 1_000

function idOf({ appName, name }: LimitKey): string {
  return JSON.stringify([appName, name])
}

function removeEnded({ slots, places }: Limit, now: number): void {
  for (const [id, { endsAt }] of slots) if (endsAt <= now) slots.delete(id)
  for (const [id, { endsAt }] of places) if (endsAt <= now) places.delete(id)
}

function takenIn({ slots }: Limit): Map<string, number> {
  const taken = new Map<string, number>()
  for (const { userId } of slots.values()) taken.set(userId, (taken.get(userId) ?? 0) + 1)
  return taken
}
