/** Waits for conditions that are checked when something has changed. */
export class Waits {
  #waiting: { holds(): boolean; resolve(): void }[] = []

  /** Settles when the condition holds, now or at a later `check()`. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ holds, resolve }))
  }

  /** Something has changed. */
  check(): void {
    const waiting = this.#waiting
    this.#waiting = waiting.filter(({ holds }) => !holds())
    for (const one of waiting) if (!this.#waiting.includes(one)) one.resolve()
  }
}
