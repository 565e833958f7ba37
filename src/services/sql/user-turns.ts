import { systemPorts } from '../../core/base/ports.ts'

/** The longest pause after a piece, in milliseconds. */
const MAX_PAUSE_MS = 200

/**
 * Pieces of long logs are read, and large entries are written, one at a time, because each of them blocks the event loop: after
 * each piece all other work gets as much time as the piece has taken. Users take turns, so that one with many long logs does not
 * make the others wait for all of them.
 */
export class UserTurns {
  /** What waits, by user. The first user is the next one. */
  readonly #waiting: Map<string, (() => void)[]> = new Map()
  #isBusy = false

  /** Does a piece of work when it is the turn of this user. */
  async take<T>(userId: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#enqueue(userId, resolve))
    this.#isBusy = true
    const start = performance.now()
    try {
      return await work()
    } finally {
      systemPorts.setTimer(() => this.#startNext(), Math.min(performance.now() - start, MAX_PAUSE_MS))
    }
  }

  #enqueue(userId: string, start: () => void): void {
    const own = this.#waiting.get(userId)
    if (own) own.push(start)
    else this.#waiting.set(userId, [start])
  }

  #startNext(): void {
    const [first] = this.#waiting
    this.#isBusy = first !== undefined
    if (!first) return
    const [userId, [start, ...others]] = first
    this.#waiting.delete(userId)
    if (others.length > 0) this.#waiting.set(userId, others) // behind the other users
    start?.()
  }
}
