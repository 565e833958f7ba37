// Calls of one user that wait for a slot in this process. The first of them asks the store, for all.
import type { Ports } from '../../core/base/ports.ts'
import type { PlaceInLine, SlotAnswer } from './service.ts'

/** How often the store is asked, give or take a quarter, if it does not say that a slot is free. */
const ASK_MS = 1_000
/** A place in the line of the store outlives two lost attempts to ask for it. */
const PLACE_MS = 3 * ASK_MS

/** A slot that is taken. */
export interface HeldSlot {
  /** Gives the slot back. Never rejects: without it, the lease ends. Does nothing for a start. */
  release(): Promise<void>
}

/** What a limit answers, with the slot if it is taken. */
export type TakenSlot = Exclude<SlotAnswer, { type: 'taken' }> | { readonly type: 'taken'; readonly slot: HeldSlot }

/** What a line needs. */
interface LineOptions {
  /** Timers and ids. */
  readonly ports: Ports
  /** Takes a slot, or a place in the line of the store. */
  take(place: PlaceInLine): Promise<TakenSlot>
  /** Gives up the place in the line of the store. */
  leave(ticket: string): Promise<void>
  /** Called when the store fails. The calls that wait fail, too. */
  onFailed(error: unknown): void
  /** Called when nothing waits any more. */
  onEmpty(): void
}

/** A call that waits. */
interface Waiting {
  resolve(slot: HeldSlot): void
  reject(error: unknown): void
}

/** Calls that wait for their turn, in the order in which they arrived. */
export class SlotLine {
  /** Identifies the line in the store. */
  readonly ticket: string
  readonly #options: LineOptions
  readonly #waiting: Set<Waiting> = new Set()
  #isServing = false
  #wasCalled = false
  #endPause: (() => void) | undefined

  constructor(options: LineOptions) {
    this.#options = options
    this.ticket = options.ports.newId()
  }

  /** Waits for a slot. Rejects when the signal aborts. */
  wait(signal: AbortSignal): Promise<HeldSlot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const end = (): void => {
        this.#waiting.delete(waiting)
        signal.removeEventListener('abort', onAbort)
      }
      const waiting: Waiting = {
        resolve: (slot) => {
          end()
          resolve(slot)
        },
        reject: (error) => {
          end()
          reject(error)
        },
      }
      const onAbort = (): void => {
        waiting.reject(signal.reason)
        if (this.#waiting.size === 0) this.ask() // ends the pause
      }
      this.#waiting.add(waiting)
      signal.addEventListener('abort', onAbort, { once: true })
      if (!this.#isServing) void this.#serve()
    })
  }

  /** Asks the store now. */
  ask(): void {
    this.#wasCalled = true
    this.#endPause?.()
  }

  /** Asks for slots while calls wait. */
  async #serve(): Promise<void> {
    const { take, leave, onFailed, onEmpty } = this.#options
    this.#isServing = true
    let hasPlace = false
    while (this.#waiting.size > 0) {
      try {
        this.#wasCalled = false
        const answer = await take({ ticket: this.ticket, waitMs: PLACE_MS })
        hasPlace = answer.type === 'full'
        if (answer.type === 'full') await this.#pause(Math.min(answer.retryAfterMs, this.#jittered(ASK_MS)))
        else this.#give(answer.slot)
      } catch (error) {
        onFailed(error)
        for (const one of [...this.#waiting]) one.reject(error)
      }
    }
    this.#isServing = false
    onEmpty()
    if (hasPlace) await leave(this.ticket).catch(() => {}) // the place ends by itself
  }

  /** The first call gets the slot. A slot that came too late goes back. */
  #give(slot: HeldSlot): void {
    const [first] = this.#waiting
    if (first) first.resolve(slot)
    else void slot.release()
  }

  #jittered(ms: number): number {
    return ms * (0.75 + 0.5 * this.#options.ports.random())
  }

  async #pause(ms: number): Promise<void> {
    if (this.#wasCalled) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#endPause = resolve
    const cancelTimer = this.#options.ports.setTimer(resolve, ms)
    await promise
    cancelTimer()
    this.#endPause = undefined
  }
}
