import { keepShape } from '../../base/keep-shape.ts'

/** One at a time, in the order of arrival. */
export class Turnstile {
  #isTaken = false
  #waiting: (() => void)[] | undefined

  /** Takes it when it is free. */
  enter(): boolean {
    if (this.#isTaken) return false
    this.#isTaken = true
    return true
  }
  /** Waits for one's turn, then has it. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting ??= []
      this.#waiting.push(resolve)
    })
  }
  leave(): void {
    const next = this.#waiting?.shift()
    if (next) next()
    else this.#isTaken = false
  }
}

keepShape(() => new Turnstile())
