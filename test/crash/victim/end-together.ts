/** Lets calls that run at the same time end at the same time, so that their results are one event also on a busy machine. */
export class EndTogether {
  #running = 0
  readonly #waiting: (() => void)[] = []

  /** A call begins. */
  begin(): void {
    this.#running++
  }

  /** A call could end. Resolves when all calls that have begun could. */
  async end(): Promise<void> {
    if (this.#waiting.length + 1 < this.#running) return await new Promise((resolve) => this.#waiting.push(resolve))
    this.#running = 0
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
