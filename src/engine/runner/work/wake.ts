import type { Ports } from '../../../core/base/ports.ts'

/** The share of a wait by which it is shorter or longer: processes that started together do not meet for ever. */
const JITTER = 0.25

/** Waits for a time or for a call, whichever comes first. */
export class Wake {
  readonly #ports: Pick<Ports, 'setTimer' | 'random'>
  #isCalled = false
  #end: (() => void) | undefined

  constructor(ports: Pick<Ports, 'setTimer' | 'random'>) {
    this.#ports = ports
  }

  /** Ends the wait under way, or makes the next one short. */
  wake(): void {
    this.#isCalled = true
    this.#end?.()
  }

  /** Waits for about `ms`, or until `wake()` is called, and for `leastMs` in any case. */
  async wait(ms: number, leastMs: number): Promise<void> {
    await this.#sleep(leastMs)
    if (!this.#isCalled) {
      const jittered = ms * (1 - JITTER + 2 * JITTER * this.#ports.random())
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#end = resolve
      const cancelTimer = this.#ports.setTimer(resolve, Math.max(0, jittered - leastMs))
      await promise
      cancelTimer()
      this.#end = undefined
    }
    this.#isCalled = false
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#ports.setTimer(resolve, ms))
  }
}
