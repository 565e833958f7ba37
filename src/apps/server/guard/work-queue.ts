import { setImmediate as nextTurn } from 'node:timers/promises'
import { RateLimited } from './rate-limited.ts'

/** The most requests of one principal that wait, by default. */
const MAX_WAITING = 100

/** The work of one principal. */
interface PrincipalWork {
  running: number
  /** Starts the next one. */
  readonly waiting: (() => void)[]
}

/** Lets each principal do only a few things at the same time; others wait for their turn. Principals do not wait for each other. */
export class WorkQueue {
  readonly #max: number
  readonly #maxWaiting: number
  readonly #work: Map<string, PrincipalWork> = new Map()

  /** `max` is how many things one principal does at the same time, `maxWaiting` how many more wait. */
  constructor(max: number, maxWaiting: number = MAX_WAITING) {
    this.#max = max
    this.#maxWaiting = maxWaiting
  }

  /** Resolves when it is the turn of this work, with a function that ends it. Throws `RATE_LIMITED` if too much waits. */
  async take(userId: string): Promise<() => void> {
    const work = this.#work.get(userId) ?? { running: 0, waiting: [] }
    this.#work.set(userId, work)
    if (work.running < this.#max) work.running++
    else {
      if (work.waiting.length >= this.#maxWaiting)
        throw new RateLimited(
          `You have ${this.#maxWaiting} requests that wait for others of yours. Try again later.`,
          1,
        )
      await new Promise<void>((resolve) => work.waiting.push(resolve)) // its predecessor passes its place on
      await nextTurn() // requests of other principals come first
    }
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      const next = work.waiting.shift()
      if (next) next()
      else if (--work.running === 0) this.#work.delete(userId)
    }
  }
}
