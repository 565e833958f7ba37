import { keepShape } from '../../base/keep-shape.ts'
import type { Ports } from '../../base/ports.ts'

/** Runs that may begin before everything else in the process has had a turn. */
const CROWD = 64

/**
 * A crowd of runs begins a few at a time. Each few get as far as their first real wait while what they touch is still
 * at hand, and timers, sockets and other runs have a turn in between.
 */
export class Pace {
  readonly #ports: Pick<Ports, 'setTimer'>
  /** Under way since the others last had a turn. */
  #begun = 0
  #waiting: (() => void)[] = []
  #isTimed = false

  constructor(ports: Pick<Ports, 'setTimer'>) {
    this.#ports = ports
  }
  /** Undefined = begin now, else when the promise says so. */
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

keepShape(() => new Pace({ setTimer: () => () => {} }))
