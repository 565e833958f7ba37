/** What became of an attempt to continue a session. */
export type Outcome =
  /** Its log has grown. */
  | { readonly type: 'progress' }
  /** There was nothing to do, or another process holds the session. */
  | { readonly type: 'nothing' }
  /** The run could not start, or failed. */
  | { readonly type: 'failed'; readonly reason: string }

/** The first delay, in milliseconds. It doubles with each further attempt. */
const FIRST_MS = 1_000
const MAX_NOTHING_MS = 10_000
const MAX_FAILED_MS = 300_000
/** After this time without an attempt, earlier ones are forgotten. */
const FORGOTTEN_MS = 2 * MAX_FAILED_MS

interface Attempts {
  readonly type: 'nothing' | 'failed'
  readonly count: number
  readonly at: number
  readonly until: number
  readonly reason: string | undefined
}

/** When sessions that could not be continued are tried again. Times are milliseconds on a monotonic clock. */
export class RetryDelays {
  readonly #attempts: Map<string, Attempts> = new Map()

  /** The number of sessions that wait. */
  get size(): number {
    return this.#attempts.size
  }

  /** May the session be tried now? */
  isDue(session: string, now: number): boolean {
    return (this.#attempts.get(session)?.until ?? now) <= now
  }

  /** Notes the outcome of an attempt. Returns whether to report it: a failure with another reason than the last. */
  note(session: string, outcome: Outcome, now: number): boolean {
    const before = this.#attempts.get(session)
    this.#attempts.delete(session)
    if (outcome.type === 'progress') return false
    const count = before?.type === outcome.type ? before.count + 1 : 1
    const most = outcome.type === 'failed' ? MAX_FAILED_MS : MAX_NOTHING_MS
    const until = now + Math.min(FIRST_MS * 2 ** Math.min(count - 1, 20), most)
    const reason = outcome.type === 'failed' ? outcome.reason : before?.reason
    this.#attempts.set(session, { type: outcome.type, count, at: now, until, reason })
    return outcome.type === 'failed' && reason !== before?.reason
  }

  /** The session has changed: tries it again a second after the last attempt, unless that has failed. */
  shorten(session: string): void {
    const found = this.#attempts.get(session)
    if (found?.type !== 'nothing') return
    this.#attempts.set(session, { ...found, until: Math.min(found.until, found.at + FIRST_MS) })
  }

  /** Forgets sessions that were not tried for long. */
  clean(now: number): void {
    for (const [session, { at }] of this.#attempts) if (now - at > FORGOTTEN_MS) this.#attempts.delete(session)
  }
}
