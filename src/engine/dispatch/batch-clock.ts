import { type JsonObject, setOwn } from '../../core/base/json.ts'
import type { Ports } from '../../core/base/ports.ts'
import type { CallTimes } from '../../core/event/event.ts'
import type { Outcome } from './outcome.ts'

/**
 * Measures when the calls of a batch ran. A result waits for its siblings, so the time of its event only tells when the last
 * call ended.
 */
export class BatchClock {
  readonly #ports: Ports
  readonly #batchStartedAt: number
  /** Created for the first call that starts after the batch. */
  #startedAt: number[] | undefined
  readonly #endedAt: number[] = []

  constructor(ports: Ports) {
    this.#ports = ports
    this.#batchStartedAt = ports.now()
  }

  /** Notes that the call at this position starts. Without it, the call starts with the batch. */
  start(at: number): void {
    this.#startedAt ??= []
    this.#startedAt[at] = this.#ports.now()
  }

  /** Notes that the call at this position has ended. */
  end(at: number): void {
    this.#endedAt[at] = this.#ports.now()
  }

  /** The times of outcomes that are recorded now; undefined if the batch has taken less than a millisecond. `all`: by position. */
  timesOf(recorded: readonly Outcome[], all: readonly (Outcome | undefined)[]): CallTimes | undefined {
    if (this.#ports.now() - this.#batchStartedAt < 1) return undefined
    let times: JsonObject | undefined
    for (const outcome of recorded) {
      if (outcome.type !== 'result' || outcome.pending) continue
      const at = all.indexOf(outcome)
      const startedAt = this.#startedAt?.[at] ?? this.#batchStartedAt
      const endedAt = this.#endedAt[at] ?? startedAt
      times ??= {}
      setOwn(times, outcome.call.id, { startedAt: startedAt / 1000, endedAt: endedAt / 1000 })
    }
    return times as CallTimes | undefined // filled above
  }
}
