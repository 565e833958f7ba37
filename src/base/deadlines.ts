import type { Ports } from './ports.ts'

/** Something that is told when its time is up. `at` and `isOver` belong to whoever keeps it. */
export interface Deadline {
  at: number
  isOver: boolean
  expire(): void
}

/** Many deadlines on one timer: calls that start together mostly end long before it. */
export class Deadlines {
  readonly #ports: Ports
  #all: Deadline[] = []
  #live = 0
  /** When the timer fires, and what takes it back. */
  #timerAt = 0
  #cancelTimer: (() => void) | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Tells it after `ms`, unless it has ended before. */
  set(ms: number, deadline: Deadline): void {
    deadline.at = this.#ports.monotonicNow() + ms
    deadline.isOver = false
    this.#all.push(deadline)
    this.#live++
    if (!this.#cancelTimer || deadline.at < this.#timerAt) this.#wait(deadline.at, ms)
  }

  /** Nobody needs to be told any more. */
  clear(deadline: Deadline): void {
    if (deadline.isOver) return
    deadline.isOver = true
    if (--this.#live > 0) return
    this.#all = []
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #wait(at: number, ms: number): void {
    this.#cancelTimer?.()
    this.#timerAt = at
    this.#cancelTimer = this.#ports.setTimer(this.#fire, ms)
  }

  readonly #fire = (): void => {
    this.#cancelTimer = undefined
    const now = Math.max(this.#timerAt, this.#ports.monotonicNow()) // a timer may be early by the clock, never by its own word
    const due = this.#all.filter((deadline) => !deadline.isOver && deadline.at <= now)
    this.#all = this.#all.filter((deadline) => !deadline.isOver && deadline.at > now)
    const next = this.#all.reduce((first, deadline) => Math.min(first, deadline.at), Number.POSITIVE_INFINITY)
    if (next !== Number.POSITIVE_INFINITY) this.#wait(next, next - now)
    for (const deadline of due) {
      this.clear(deadline)
      deadline.expire()
    }
  }
}
