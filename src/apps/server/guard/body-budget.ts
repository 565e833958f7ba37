import { RateLimited } from './rate-limited.ts'

/** A body that is being read. */
export interface BodyReading {
  /** Counts bytes that the body takes. Throws `RATE_LIMITED` if the bodies of the principal take too many. */
  take(bytes: number): void
  /** The body was read, or the client has left. */
  end(): void
}

/** Limits the bytes of the bodies that each principal sends at the same time: slow clients would fill the memory with them. */
export class BodyBudget {
  readonly #max: number
  readonly #taken = new Map<string, number>()

  /** `max` is the most bytes of one principal. */
  constructor(max: number) {
    this.#max = max
  }

  /** Starts to read a body of the principal. */
  start(userId: string): BodyReading {
    let own = 0
    return {
      take: (bytes) => {
        const taken = (this.#taken.get(userId) ?? 0) + bytes
        if (taken > this.#max)
          throw new RateLimited(
            `You send bodies with more than ${this.#max} bytes at the same time. Try again later.`,
            1,
          )
        own += bytes
        this.#taken.set(userId, taken)
      },
      end: () => {
        const left = (this.#taken.get(userId) ?? 0) - own
        own = 0
        if (left > 0) this.#taken.set(userId, left)
        else this.#taken.delete(userId)
      },
    }
  }
}
