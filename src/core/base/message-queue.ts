/** Messages between the network and one reader, in order. Keeps messages that arrive before they are read. */
export class MessageQueue<T> implements AsyncIterableIterator<T, undefined> {
  #messages: (T | undefined)[] = []
  #next = 0
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = []
  #end: { readonly error?: unknown } | undefined
  readonly #onReturn: () => void

  /** `onReturn` is called when the reader stops early. */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn
  }

  /** Adds a message. Ignored after the end. */
  push(message: T): void {
    if (this.#end) return
    const waiting = this.#waiting.shift()
    if (waiting) waiting.resolve({ value: message, done: false })
    else this.#messages.push(message)
  }

  /** Ends the queue. Messages that are not read yet are dropped. */
  close(): void {
    this.#clear()
    this.#finish({})
  }

  /** Ends the queue with an error, which the reader gets after the last message. Ignored after the end. */
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

  /** The queue itself: it has one reader. */
  [Symbol.asyncIterator](): this {
    return this
  }

  #take(): T {
    const message = this.#messages[this.#next] as T
    this.#messages[this.#next++] = undefined // a reader that is always behind must not keep what it has read
    if (this.#next === this.#messages.length) this.#clear()
    return message
  }

  #clear(): void {
    this.#messages = []
    this.#next = 0
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
