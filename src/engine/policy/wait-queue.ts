/** Calls that wait for their turn, in the order they arrived. A call whose signal aborts leaves the queue. */
export class WaitQueue {
  readonly #waiting = new Set<() => void>()

  /** The number of waiting calls. */
  get length(): number {
    return this.#waiting.size
  }

  /** Waits for `next()`. Rejects and calls `onLeave` when the signal aborts first. */
  wait(signal: AbortSignal, onLeave?: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const start = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.delete(start)
        reject(signal.reason)
        onLeave?.()
      }
      this.#waiting.add(start)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Starts the first call in the queue. Returns false when the queue is empty. */
  next(): boolean {
    for (const start of this.#waiting) {
      this.#waiting.delete(start)
      start()
      return true
    }
    return false
  }
}
