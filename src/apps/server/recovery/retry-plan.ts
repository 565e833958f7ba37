/** The most sweeps that leave out a session. */
const MAX_LEFT_OUT = 32

/**
 * When to try a session again that stays interrupted, such as one whose agent was removed: after 1 sweep, then 2, 4 and so on.
 * Each try costs a read of its log and a line in the log of the operator.
 */
export class RetryPlan {
  /** For how many more sweeps a session is left out, and for how many after the next try. */
  #waits: Map<string, { readonly left: number; readonly next: number }> = new Map()
  #found: Map<string, { readonly left: number; readonly next: number }> = new Map()

  /** Is it time to try this interrupted session? Call it once per sweep. */
  isDue({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): boolean {
    const key = JSON.stringify([userId, sessionId])
    const { left, next } = this.#waits.get(key) ?? { left: 0, next: 1 }
    if (left > 0) this.#found.set(key, { left: left - 1, next })
    else this.#found.set(key, { left: next, next: Math.min(next * 2, MAX_LEFT_OUT) })
    return left === 0
  }

  /** Forgets the sessions that this sweep has not found: they are no longer interrupted. */
  endSweep(): void {
    this.#waits = this.#found
    this.#found = new Map()
  }
}
