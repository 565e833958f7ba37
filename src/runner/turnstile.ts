/** One at a time, in the order of arrival. */
export class Turnstile {
  #busy = false
  readonly #waiting: (() => void)[] = []

  get isFree(): boolean {
    return !this.#busy
  }
  /** Only when it is free; the returned function leaves. */
  enter(): () => void {
    this.#busy = true
    return this.#leave
  }
  wait(): Promise<() => void> {
    return new Promise((resolve) => this.#waiting.push(() => resolve(this.#leave)))
  }
  readonly #leave = (): void => {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#busy = false
  }
}
