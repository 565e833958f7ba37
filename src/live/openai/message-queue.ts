/** Messages between the network and one consumer. */
export class MessageQueue<T> implements AsyncIterable<T> {
  #messages: (T | undefined)[] = []
  #head = 0
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined
  #isIterated = false

  /** Adds a message. Ignored after the end. */
  push(message: T): void {
    if (this.#end) return
    this.#messages.push(message)
    this.#notify()
  }

  /** Ends the iteration at once. Messages that are not delivered are dropped. */
  close(): void {
    this.#end = {}
    this.#clear()
    this.#notify()
  }

  /** Makes the iteration throw after the messages that have arrived. Ignored after the end. */
  fail(error: unknown): void {
    this.#end ??= { error }
    this.#notify()
  }

  /** Iterates the messages. Only once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    if (this.#isIterated) throw new Error('A live connection can be iterated once. Read its messages in one loop.')
    this.#isIterated = true
    try {
      for (;;) {
        while (this.#head < this.#messages.length) yield this.#take()
        if (this.#end && 'error' in this.#end) throw this.#end.error
        if (this.#end) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.close() // the consumer has left: no one reads what is queued
    }
  }

  #take(): T {
    const message = this.#messages[this.#head] as T
    this.#messages[this.#head++] = undefined // a consumer that is always behind must not keep what it has read
    if (this.#head === this.#messages.length) this.#clear()
    return message
  }

  #clear(): void {
    this.#messages = []
    this.#head = 0
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
