import type { Ports } from '../../../core/base/ports.ts'

/** Finds a condition that holds without a break for `ms`. */
export class SustainedEpisode {
  readonly #ms: number
  readonly #ports: Pick<Ports, 'setTimer'>
  readonly #found: () => void
  #holds = false
  #cancelTimer: (() => void) | undefined

  /** Calls `found` when the condition has held for `ms`. */
  constructor(ms: number, ports: Pick<Ports, 'setTimer'>, found: () => void) {
    this.#ms = ms
    this.#ports = ports
    this.#found = found
  }
  /** Takes the condition after a change of state. */
  update(holds: boolean): void {
    if (holds === this.#holds) return
    this.close()
    this.#holds = holds
    if (!holds) return
    this.#cancelTimer = this.#ports.setTimer(
      () => {
        this.#cancelTimer = undefined
        this.#found()
      },
      this.#ms,
      { background: true },
    )
  }
  /** Stops the timer. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }
}
