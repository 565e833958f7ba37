import { systemPorts, yieldToTimers } from '../../core/base/ports.ts'

/** How much work is done before timers and other requests run, in characters. */
const PACE_LENGTH = 10_000

/** Lets other work go on between pieces of work. */
export class Pace {
  #done = 0

  /** Waits if enough work was done since the last wait. */
  async after(work: number): Promise<void> {
    this.#done += work
    if (this.#done < PACE_LENGTH) return
    this.#done = 0
    await yieldToTimers(systemPorts)
  }
}
