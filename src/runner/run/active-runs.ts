// The active runs of a runner, and the limit on how many runs start at once.
import { registerShape } from '../../base/object-shapes.ts'
import type { Ports } from '../../base/ports.ts'
import type { ActiveRun } from './active-run.ts'

/** The active runs of a runner. */
export class ActiveRuns {
  // a list: a Map that is filled and emptied for ever keeps finished runs alive until the next full collection
  readonly #runs: ActiveRun[] = []

  /** All runs. */
  all(): ActiveRun[] {
    return [...this.#runs]
  }
  /** The runs of one session. A run whose lease was lost may still be there beside the run that holds it now. */
  of({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): ActiveRun[] {
    return this.#runs.filter((run) => run.sessionId === sessionId && run.userId === userId)
  }
  /** Adds a run that starts. */
  add(run: ActiveRun): void {
    this.#runs.push(run)
  }
  /** Removes a run that is over. */
  delete(run: ActiveRun): void {
    const at = this.#runs.indexOf(run)
    if (at >= 0) this.#runs.splice(at, 1)
  }
}

/** The most runs that start before timers, sockets and other work of the process get a turn. */
const MAX_STARTS_PER_TURN = 64

/**
 * Starts many simultaneous runs in groups. Each group reaches its first await while its data is in the CPU caches. Timers,
 * sockets and other runs get a turn between two groups.
 */
export class StartLimiter {
  readonly #ports: Pick<Ports, 'setTimer'>
  /** Runs that were started since the last turn and have not finished. */
  #started = 0
  #waiting: (() => void)[] = []
  #hasTimer = false

  constructor(ports: Pick<Ports, 'setTimer'>) {
    this.#ports = ports
  }
  /** Call before a run starts. Undefined = start now, else start when the promise resolves. */
  enter(): Promise<void> | undefined {
    if (this.#started < MAX_STARTS_PER_TURN && this.#waiting.length === 0) {
      this.#started++
      return undefined
    }
    this.#scheduleTurn()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
  /** Call when a run has finished or could not start. */
  release(): void {
    if (this.#started > 0) this.#started--
  }
  #scheduleTurn(): void {
    if (this.#hasTimer) return
    this.#hasTimer = true
    this.#ports.setTimer(() => this.#startGroup(), 0)
  }
  #startGroup(): void {
    this.#hasTimer = false
    const group = this.#waiting.splice(0, MAX_STARTS_PER_TURN)
    this.#started = group.length
    if (this.#waiting.length) this.#scheduleTurn()
    for (const start of group) start()
  }
}

registerShape(() => new StartLimiter({ setTimer: () => () => {} }))
