import type { Ports } from './ports.ts'

/** A deadline. Only `Deadlines` writes `at` and `isOver`. */
export interface Deadline {
  /** When it expires, on the monotonic clock. */
  at: number
  /** Has it expired or been cleared? */
  isOver: boolean
  /** Called when it expires. */
  expire(): void
}

/** Many deadlines on one timer. Most deadlines are cleared long before they expire, so few timers are ever set. */
export class Deadlines {
  readonly #ports: Ports
  #all: Deadline[] = []
  #live = 0
  /** When the timer fires. */
  #timerAt = 0
  #cancelTimer: (() => void) | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Starts a deadline that expires after `ms` milliseconds. */
  set(ms: number, deadline: Deadline): void {
    deadline.at = this.#ports.monotonicNow() + ms
    deadline.isOver = false
    this.#all.push(deadline)
    this.#live++
    if (!this.#cancelTimer || deadline.at < this.#timerAt) this.#setTimer(deadline.at, ms)
  }

  /** Ends a deadline: `expire` is not called. */
  clear(deadline: Deadline): void {
    if (deadline.isOver) return
    deadline.isOver = true
    if (--this.#live > 0) return
    this.#all = []
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #setTimer(at: number, ms: number): void {
    this.#cancelTimer?.()
    this.#timerAt = at
    this.#cancelTimer = this.#ports.setTimer(this.#fire, ms)
  }

  readonly #fire = (): void => {
    this.#cancelTimer = undefined
    const now = Math.max(this.#timerAt, this.#ports.monotonicNow()) // by the clock, a timer may fire slightly early
    const due = this.#all.filter((deadline) => !deadline.isOver && deadline.at <= now)
    this.#all = this.#all.filter((deadline) => !deadline.isOver && deadline.at > now)
    const next = this.#all.reduce((first, deadline) => Math.min(first, deadline.at), Number.POSITIVE_INFINITY)
    if (next !== Number.POSITIVE_INFINITY) this.#setTimer(next, next - now)
    for (const deadline of due) {
      this.clear(deadline)
      deadline.expire()
    }
  }
}
