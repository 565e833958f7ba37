/** Brings calls that run at the same time into one order, and lets them end at the same time, also on a busy machine. */
export class Batch {
  #begun = 0
  #passed = 0
  readonly #waitingToPass: Map<number, () => void> = new Map()
  readonly #waitingToEnd: (() => void)[] = []

  /** A call begins. Returns its place. */
  begin(): number {
    return this.#begun++
  }

  /** Resolves when the calls that have begun before this one have passed. */
  async myTurn(place: number): Promise<void> {
    if (place > this.#passed) await new Promise<void>((resolve) => this.#waitingToPass.set(place, resolve))
  }

  /** A call has passed: it is the turn of the next one. */
  pass(): void {
    this.#waitingToPass.get(++this.#passed)?.()
  }

  /** A call could end. Resolves when all calls that have begun could, so that their results are one event. */
  async end(): Promise<void> {
    if (this.#waitingToEnd.length + 1 < this.#begun)
      return await new Promise((resolve) => this.#waitingToEnd.push(resolve))
    this.#begun = 0
    this.#passed = 0
    for (const resolve of this.#waitingToEnd.splice(0)) resolve()
  }
}
