/** Messages of one connection, and the tests that wait for a message of a type. */
export class TypedInbox<T extends { readonly type?: unknown }> {
  /** All messages so far. */
  readonly all: T[] = []
  readonly #taken: Map<unknown, number> = new Map()
  #waiting: (() => void)[] = []
  #isClosed = false

  /** Adds a message. */
  add(message: T): void {
    this.all.push(message)
    this.#notify()
  }

  /** No message follows. */
  close(): void {
    this.#isClosed = true
    this.#notify()
  }

  /** The next message of this type that this method has not returned yet. Rejects when none follows. */
  async next(type: string): Promise<T> {
    const position = this.#taken.get(type) ?? 0
    this.#taken.set(type, position + 1)
    for (;;) {
      const found = this.all.filter((message) => message.type === type)[position]
      if (found) return found
      if (this.#isClosed) throw new Error(`The connection ended before message ${position + 1} of type ${type}.`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #notify(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
