import type { Lease } from '../../../services/session/service.ts'
import { type RecoveryTimes, withRecovery } from '../../../services/worker/recovery-times.ts'

/** What this process has done as a worker. */
export class WorkerActivity {
  /** The runs that were continued or started without a caller. */
  continued = 0
  /** How often a session was taken over from a holder that had died. */
  crashes = 0
  /** How long these sessions were without a holder. */
  recoveries: RecoveryTimes = []
  /** By lease: a session may be opened again under the same one. */
  readonly #known: WeakMap<Lease, Recovery> = new WeakMap()

  /** Notes that a session was taken over. The recovery ends with the first append. */
  recoveryOf(lease: Lease, lastHeldMs: number, sinceClaim: () => number): Recovery {
    let recovery = this.#known.get(lease)
    if (!recovery) {
      this.crashes++
      recovery = new Recovery(
        (ms) => {
          this.recoveries = withRecovery(this.recoveries, ms)
        },
        () => lastHeldMs + sinceClaim(),
      )
      this.#known.set(lease, recovery)
    }
    return recovery
  }
}

/** A session that was taken over from a holder that had died, until this process has appended to it. */
export class Recovery {
  #end: ((ms: number) => void) | undefined
  readonly #age: () => number

  constructor(onEnd: (ms: number) => void, age: () => number) {
    this.#end = onEnd
    this.#age = age
  }

  /** The process has appended to the log. */
  noteAppend(): void {
    this.#end?.(this.#age())
    this.#end = undefined
  }
}
