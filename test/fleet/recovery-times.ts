// How long sessions wait after their worker was killed: until another worker appends the next entry.

/** What a worker does with a session. */
export type Deed = 'claimed' | 'appended' | 'released'

/** Measures recoveries. Times are milliseconds. */
export class RecoveryTimes {
  /** The sessions that each worker holds. */
  readonly #held: Map<number, Set<string>> = new Map()
  /** When the worker of a session was killed. */
  readonly #lost: Map<string, number> = new Map()
  /** When workers were killed. */
  readonly #dead: Map<number, number> = new Map()
  readonly #times: number[] = []

  /** A worker has done something with a session. What a worker has told before it was killed may arrive later. */
  note(worker: number, session: string, deed: Deed, now: number): void {
    const killedAt = this.#dead.get(worker)
    if (killedAt !== undefined) {
      if (deed === 'claimed') this.#lost.set(session, killedAt)
      if (deed === 'released') this.#lost.delete(session)
    } else if (deed === 'claimed') this.#sessionsOf(worker).add(session)
    else if (deed === 'released') {
      this.#sessionsOf(worker).delete(session)
      this.#lost.delete(session) // nothing was left to do
    } else this.#recover(session, now)
  }

  /** A worker was killed. */
  kill(worker: number, now: number): void {
    for (const session of this.#sessionsOf(worker)) if (!this.#lost.has(session)) this.#lost.set(session, now)
    this.#held.delete(worker)
    this.#dead.set(worker, now)
  }

  /** How long recoveries have taken, the shortest first. A session that still waits counts until now. */
  sorted(now: number): readonly number[] {
    return [...this.#times, ...[...this.#lost.values()].map((at) => now - at)].toSorted((a, b) => a - b)
  }

  #recover(session: string, now: number): void {
    const at = this.#lost.get(session)
    if (at === undefined) return
    this.#lost.delete(session)
    this.#times.push(now - at)
  }

  #sessionsOf(worker: number): Set<string> {
    const sessions = this.#held.get(worker) ?? new Set()
    this.#held.set(worker, sessions)
    return sessions
  }
}

/** The value below which a share of the sorted values is. 0 if there are none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
