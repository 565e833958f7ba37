import type { ActiveRun } from '../run/active-run.ts'

/**
 * The runs of a runner. A list and not a Set: a Set that is filled and emptied for ever keeps what it held alive from
 * one collection to the next.
 */
export class RunList {
  readonly #runs: ActiveRun[] = []

  get size(): number {
    return this.#runs.length
  }
  all(): ActiveRun[] {
    return [...this.#runs]
  }
  /** Those of a session. */
  of({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): ActiveRun[] {
    return this.#runs.filter((run) => run.sessionId === sessionId && run.userId === userId)
  }
  add(run: ActiveRun): void {
    run.place = this.#runs.push(run) - 1
  }
  /** The last one takes the place that becomes free. */
  delete(run: ActiveRun): void {
    if (this.#runs[run.place] !== run) return
    const last = this.#runs.pop() as ActiveRun
    if (last === run) return
    this.#runs[run.place] = last
    last.place = run.place
  }
}
