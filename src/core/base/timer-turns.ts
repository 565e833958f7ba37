import { systemPorts, yieldToTimers } from './ports.ts'

/**
 * Gives timers and cancellation a turn between steps that never wait themselves, such as reading a stream that is always ready. It
 * uses the timers of the system, because it is about the time of the processor. Steps that wait by themselves cost nothing more.
 */
export class TimerTurns {
  readonly #most: number
  #steps = 0
  #turn: Promise<void> | undefined

  /** `most`: how many steps may follow each other without a turn of timers. */
  constructor(most: number) {
    this.#most = most
  }

  /** Call it after each step, or after so many. Returns a promise to wait for if timers need a turn. */
  next(steps = 1): Promise<void> | undefined {
    this.#turn ??= yieldToTimers(systemPorts).then(() => {
      this.#steps = 0
      this.#turn = undefined
    })
    this.#steps += steps
    return this.#steps >= this.#most ? this.#turn : undefined
  }
}
