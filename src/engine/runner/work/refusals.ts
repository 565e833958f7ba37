// Users whose runs found no slot. A worker tries their sessions again later, and those of others meanwhile.
import { RETRY_AFTER_MS } from '../run/run-limits.ts'

/** When the app is full, so many users are tried within `RETRY_AFTER_MS`. Each of them gets a place in line. */
const MAX_USERS = 20

interface Refusal {
  readonly scope: 'app' | 'user'
  readonly until: number
}

/** Who was refused lately. Times are milliseconds on a monotonic clock. */
export class Refusals {
  /** By user, the earliest first. */
  readonly #users: Map<string, Refusal> = new Map()

  /** May a session of the user be tried now? */
  mayTry(userId: string, now: number): boolean {
    let full = 0
    for (const [user, { scope, until }] of this.#users) {
      if (until <= now) this.#users.delete(user)
      else if (scope === 'app') full++
    }
    return full < MAX_USERS && !this.#users.has(userId)
  }

  /** Notes that no run of the user could start. */
  note(userId: string, scope: 'app' | 'user', now: number): void {
    this.#users.delete(userId)
    this.#users.set(userId, { scope, until: now + RETRY_AFTER_MS })
  }

  /** A slot is free: all may be tried again. */
  clear(): void {
    this.#users.clear()
  }
}
