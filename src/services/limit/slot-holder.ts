// The slots of one process: asks for them in turn, renews them with one timer, and gives them back.
import type { Ports } from '../../core/base/ports.ts'
import { messageOf } from '../../core/error/error.ts'
import { DEFAULT_LEASE_MS } from '../session/lease.ts'
import type { LimitKey, LimitService, PlaceInLine } from './service.ts'
import { type HeldSlot, SlotLine, type TakenSlot } from './slot-line.ts'

/** A limit, and how it is used. */
export interface Limit {
  /** The limit in the app. */
  readonly name: string
  /** How many slots it has. */
  readonly max: number
  /** Set for a limit of starts: how long a start counts, in milliseconds. Default: a slot is taken until it is released. */
  readonly perMs?: number | undefined
}

/** Who asks for a slot. */
export interface SlotUser {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
}

/** What a holder of slots needs. */
interface SlotHolderOptions {
  /** Stores the limits. */
  readonly service: LimitService
  /** Timers and ids. */
  readonly ports: Ports
  /** Receives problems with slots that are taken. */
  readonly logger: { warn(message: string, detail?: unknown): void }
}

/** A slot is renewed three times per lease: two renewals may be late. */
const RENEW_MS = DEFAULT_LEASE_MS / 3

/** A start counts until its time has passed. */
const START: HeldSlot = { release: async () => {} }

/** Holds the slots of a process. */
export class SlotHolder {
  readonly #options: SlotHolderOptions
  /** The ids of the slots that are renewed. */
  readonly #held: Set<string> = new Set()
  /** Those who wait, by limit and user. */
  readonly #lines: Map<string, SlotLine> = new Map()
  /** Identifies the process in the store. Set when it takes a slot. */
  #id: string | undefined
  #stopRenewing: (() => void) | undefined
  #stopWatching: (() => void) | undefined

  constructor(options: SlotHolderOptions) {
    this.#options = options
  }

  /** Waits for a slot, behind earlier calls of the user in this process. Rejects when the signal aborts, or when the store fails. */
  async waitFor(limit: Limit, user: SlotUser, signal: AbortSignal): Promise<HeldSlot> {
    const id = JSON.stringify([user.appName, user.userId, limit.name])
    let line = this.#lines.get(id)
    if (!line) {
      line = this.#createLine(limit, user, () => this.#removeLine(id))
      this.#lines.set(id, line)
    }
    return await line.wait(signal)
  }

  /** Takes a slot, or a place in line. */
  async take(
    { name, max, perMs }: Limit,
    { appName, userId }: SlotUser,
    place: PlaceInLine | undefined,
  ): Promise<TakenSlot> {
    const { service, ports } = this.#options
    const slotId = ports.newId()
    const key = { appName, name }
    if (perMs !== undefined) {
      const answer = await service.take({ ...key, max, slotId, userId, place, holder: '', leaseMs: perMs })
      return answer.type === 'full' ? answer : { ...answer, slot: START }
    }
    this.#id ??= ports.newId()
    const answer = await service.take({
      ...key,
      max,
      slotId,
      userId,
      place,
      holder: this.#id,
      leaseMs: DEFAULT_LEASE_MS,
    })
    if (answer.type === 'full') return answer
    this.#held.add(slotId)
    this.#renewLater(this.#id)
    return { ...answer, slot: { release: () => this.#release({ ...key, slotId }) } }
  }

  /** Deletes what the store has of a user. */
  async deleteUser(user: SlotUser): Promise<void> {
    await this.#options.service.deleteUser(user)
  }

  async #release(slot: LimitKey & { readonly slotId: string }): Promise<void> {
    if (!this.#held.delete(slot.slotId)) return
    try {
      await this.#options.service.release(slot)
    } catch (error) {
      this.#options.logger.warn(
        `A slot of a limit was not released, and is free when its lease ends: ${messageOf(error)}`,
        error,
      )
    }
  }

  #createLine(limit: Limit, user: SlotUser, onEmpty: () => void): SlotLine {
    const { service, ports, logger } = this.#options
    this.#stopWatching ??= service.watch?.((freed) => {
      for (const one of this.#lines.values()) if (!freed || freed.ticket === one.ticket) one.ask()
    })
    return new SlotLine({
      ports,
      take: (place) => this.take(limit, user, place),
      onFailed: (error) => logger.warn(`A shared limit could not be checked: ${messageOf(error)}`, error),
      leave: (ticket) => service.leave({ ...user, name: limit.name, ticket }),
      onEmpty,
    })
  }

  #removeLine(id: string): void {
    this.#lines.delete(id)
    if (this.#lines.size > 0) return
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }

  /** Renews all slots with one timer, while there are any. */
  #renewLater(holder: string): void {
    const { ports, service, logger } = this.#options
    this.#stopRenewing ??= ports.setTimer(
      () => {
        this.#stopRenewing = undefined
        if (this.#held.size === 0) return
        service.renew({ holder, leaseMs: DEFAULT_LEASE_MS }).catch((error: unknown) => {
          logger.warn(
            `The slots of limits were not renewed. If that goes on, others take them: ${messageOf(error)}`,
            error,
          )
        })
        this.#renewLater(holder)
      },
      RENEW_MS,
      { background: true },
    )
  }
}
