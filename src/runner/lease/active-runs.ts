import type { ActiveRun } from '../run/active-run.ts'

/** The runs of a runner that are under way, by session. */
export class ActiveRuns {
  readonly #bySession: Map<string, ActiveRun[]> = new Map()

  /** Is no run under way? */
  get isEmpty(): boolean {
    return this.#bySession.size === 0
  }
  /** All runs. */
  all(): ActiveRun[] {
    return [...this.#bySession.values()].flat()
  }
  /** The runs of one session. A run whose lease was lost may still be there beside the run that holds it now. */
  of({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): ActiveRun[] {
    return this.#bySession.get(sessionId)?.filter((run) => run.userId === userId) ?? []
  }
  /** Adds a run that starts. */
  add(run: ActiveRun): void {
    const others = this.#bySession.get(run.sessionId)
    if (others) others.push(run)
    else this.#bySession.set(run.sessionId, [run])
  }
  /** Removes a run that is over. */
  delete(run: ActiveRun): void {
    const others = this.#bySession.get(run.sessionId)?.filter((other) => other !== run)
    if (others?.length) this.#bySession.set(run.sessionId, others)
    else this.#bySession.delete(run.sessionId)
  }
}
