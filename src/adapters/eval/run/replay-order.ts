/**
 * Lets replies of models and results of bodies go in the order of a recording, one at a time: scopes that work at the same time
 * interleave as they did, and what later agents see of them is the same.
 */
export class ReplayOrder {
  readonly #waiting: { readonly at: number; go(): void }[] = []
  #isRunning = false

  /** Resolves when nothing else waits that the recording has before this position. */
  turn(at: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ at, go })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      await nextTask() // what the one before led to waits here, too
      let first = 0
      for (const [index, { at }] of this.#waiting.entries()) if (at < (this.#waiting[first]?.at ?? 0)) first = index
      this.#waiting.splice(first, 1)[0]?.go()
    }
    this.#isRunning = false
  }
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
