import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { RateLimited } from './rate-limited.ts'

/** Above this number of principals, those that have sent nothing for a while are forgotten. */
const MANY_PRINCIPALS = 10_000

/** Limits the requests of each principal: a bucket of one minute's requests, which fills again steadily. */
export class RequestRate {
  readonly #perMinute: number
  readonly #ports: Pick<Ports, 'monotonicNow'>
  readonly #buckets = new Map<string, { left: number; at: number }>()

  readonly #problem: string

  /** `perMinute` is the most requests of one principal, `problem` the message for more. */
  constructor(
    perMinute: number,
    ports: Pick<Ports, 'monotonicNow'> = systemPorts,
    problem = `You may send ${perMinute} requests per minute. Try again later.`,
  ) {
    this.#perMinute = perMinute
    this.#ports = ports
    this.#problem = problem
  }

  /** Would another request be one too many? */
  isSpent(userId: string): boolean {
    return this.#leftAt(userId, this.#ports.monotonicNow()) < 1
  }

  /** Counts a request. Throws `RATE_LIMITED` if it is one too many. */
  count(userId: string): void {
    const now = this.#ports.monotonicNow()
    if (this.#buckets.size >= MANY_PRINCIPALS && !this.#buckets.has(userId)) this.#forgetFull(now)
    const left = this.#leftAt(userId, now)
    if (left < 1) {
      const seconds = ((1 - left) * 60) / this.#perMinute
      throw new RateLimited(this.#problem, seconds)
    }
    this.#buckets.set(userId, { left: left - 1, at: now })
  }

  #leftAt(userId: string, now: number): number {
    const bucket = this.#buckets.get(userId)
    if (!bucket) return this.#perMinute
    return Math.min(this.#perMinute, bucket.left + ((now - bucket.at) * this.#perMinute) / 60_000)
  }

  #forgetFull(now: number): void {
    for (const userId of this.#buckets.keys())
      if (this.#leftAt(userId, now) >= this.#perMinute) this.#buckets.delete(userId)
  }
}
