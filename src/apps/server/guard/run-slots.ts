import { RateLimited } from './rate-limited.ts'

/** One of the runs that a principal may have at the same time. */
export interface RunSlot {
  /** Whether the response streams the run: the slot is then released at the end of the stream. */
  isStreaming: boolean
  /** Gives the slot back. Further calls do nothing. */
  release(): void
}

/** Limits the runs that each principal has at the same time. */
export class RunSlots {
  readonly #max: number
  readonly #running = new Map<string, number>()
  #total = 0

  /** `max` is the most runs of one principal. */
  constructor(max: number) {
    this.#max = max
  }

  /** All runs now. */
  get total(): number {
    return this.#total
  }

  /** Takes a slot of the principal. Throws `RATE_LIMITED` if all are taken. */
  take(userId: string): RunSlot {
    const running = this.#running.get(userId) ?? 0
    if (running >= this.#max)
      throw new RateLimited(
        `You have ${running} runs or streams at the same time, the limit is ${this.#max}. Wait for one to end.`,
        1,
      )
    this.#running.set(userId, running + 1)
    this.#total++
    let isReleased = false
    const release = (): void => {
      if (isReleased) return
      isReleased = true
      this.#release(userId)
    }
    return { isStreaming: false, release }
  }

  #release(userId: string): void {
    const left = (this.#running.get(userId) ?? 1) - 1
    this.#total--
    if (left === 0) this.#running.delete(userId)
    else this.#running.set(userId, left)
  }
}
