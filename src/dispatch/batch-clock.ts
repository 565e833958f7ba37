import { type JsonObject, setOwn } from '../base/json.ts'
import { registerShape } from '../base/object-shapes.ts'
import type { Ports } from '../base/ports.ts'
import type { CallTimes } from '../event/event.ts'
import type { Outcome } from './outcome.ts'

/**
 * Measures when the calls of a batch ran. A result waits for its siblings, so the time of its event only tells when the last
 * call ended.
 */
export class BatchClock {
  readonly #ports: Ports
  readonly #batchStartedAt: number
  readonly #startedAt: number[] = []
  readonly #endedAt: number[] = []

  constructor(ports: Ports) {
    this.#ports = ports
    this.#batchStartedAt = ports.now()
  }

  /** Notes that a call starts. Without it, the call starts with the batch. */
  start(at: number): void {
    this.#startedAt[at] = this.#ports.now()
  }

  /** Notes that a call has ended. */
  end(at: number): void {
    this.#endedAt[at] = this.#ports.now()
  }

  /** The times of the results at these positions; undefined if the batch has taken less than a millisecond. */
  timesOf(outcomes: readonly (Outcome | undefined)[], positions: readonly number[]): CallTimes | undefined {
    if (this.#ports.now() - this.#batchStartedAt < 1) return undefined
    let times: JsonObject | undefined
    for (const at of positions) {
      const outcome = outcomes[at]
      const endedAt = this.#endedAt[at]
      if (outcome?.type !== 'result' || outcome.pending || endedAt === undefined) continue
      const startedAt = this.#startedAt[at] ?? this.#batchStartedAt
      times ??= {}
      setOwn(times, outcome.call.id, { startedAt: startedAt / 1000, endedAt: endedAt / 1000 })
    }
    return times as CallTimes | undefined // filled above
  }
}

registerShape(() => new BatchClock({ now: () => 0 } as Ports))
