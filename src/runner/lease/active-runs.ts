// The runs of a runner that are under way, and the pace at which runs start.
import { registerShape } from '../../base/object-shapes.ts'
import type { Ports } from '../../base/ports.ts'
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

/** Runs that may start before timers, sockets and other work of the process get a turn. */
const CROWD = 64

/**
 * Starts a crowd of runs in groups: each group reaches its first await while its data is in the CPU caches, and timers,
 * sockets and other runs get a turn in between.
 */
export class Pace {
  readonly #ports: Pick<Ports, 'setTimer'>
  /** Runs started since the last turn of the others. */
  #begun = 0
  #waiting: (() => void)[] = []
  #isTimed = false

  constructor(ports: Pick<Ports, 'setTimer'>) {
    this.#ports = ports
  }
  /** Undefined = start now, else when the promise resolves. */
  enter(): Promise<void> | undefined {
    if (this.#begun < CROWD && this.#waiting.length === 0) {
      this.#begun++
      return undefined
    }
    this.#time()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
  /** A run is over. */
  leave(): void {
    if (this.#begun > 0) this.#begun--
  }
  #time(): void {
    if (this.#isTimed) return
    this.#isTimed = true
    this.#ports.setTimer(() => this.#next(), 0)
  }
  #next(): void {
    this.#isTimed = false
    const some = this.#waiting.splice(0, CROWD)
    this.#begun = some.length
    if (this.#waiting.length) this.#time()
    for (const begin of some) begin()
  }
}

registerShape(() => new Pace({ setTimer: () => () => {} }))
