/** Values between a producer and one consumer. */
export class LiveQueue<T> implements AsyncIterable<T> {
  readonly #values: T[] = []
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined

  /** Adds a value. */
  push(value: T): void {
    this.#values.push(value)
    this.#wake?.()
  }

  /** Ends the iteration at once. */
  close(): void {
    this.#values.length = 0
    this.#end = {}
    this.#wake?.()
  }

  /** Makes the iteration throw after the values that were added. */
  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  /** Iterates the values. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (this.#values.length > 0) yield this.#values.shift() as T
      if (this.#end && 'error' in this.#end) throw this.#end.error
      if (this.#end) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
