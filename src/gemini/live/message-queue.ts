/** Messages in order, for one reader. Keeps messages that arrive before they are read. */
export class MessageQueue<T> implements AsyncIterator<T, undefined> {
  #messages: T[] = []
  #next = 0
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = []
  #end: { readonly error?: unknown } | undefined
  readonly #onReturn: () => void

  /** `onReturn` is called when the reader stops early. */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn
  }

  /** Adds a message. */
  push(message: T): void {
    if (this.#end) return
    const waiting = this.#waiting.shift()
    if (waiting) waiting.resolve({ value: message, done: false })
    else this.#messages.push(message)
  }

  /** Ends the queue. Messages that are not read yet are dropped. */
  close(): void {
    this.#messages = []
    this.#next = 0
    this.#finish({})
  }

  /** Ends the queue with an error, which the reader gets after the last message. */
  fail(error: unknown): void {
    this.#finish({ error })
  }

  /** The next message. */
  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#next < this.#messages.length) return Promise.resolve({ value: this.#take(), done: false })
    if (this.#end) return this.#settle(this.#end)
    const waiting = Promise.withResolvers<IteratorResult<T, undefined>>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  /** Called when the reader stops early. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.#onReturn()
    return Promise.resolve({ value: undefined, done: true })
  }

  #take(): T {
    const message = this.#messages[this.#next++] as T
    if (this.#next < this.#messages.length) return message
    this.#messages = []
    this.#next = 0
    return message
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end) {
      if (!('error' in end)) this.#end = end // closed after the connection was lost
      return
    }
    this.#end = end
    for (const waiting of this.#waiting.splice(0)) waiting.resolve(this.#settle(end))
  }

  /** The result after the last message. An error is reported once. */
  #settle(end: { readonly error?: unknown }): Promise<IteratorResult<T, undefined>> {
    if (!('error' in end)) return Promise.resolve({ value: undefined, done: true })
    this.#end = {}
    return Promise.reject(end.error)
  }
}
