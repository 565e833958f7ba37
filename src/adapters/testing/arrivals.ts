/** Values that arrive, such as connections, and the tests that wait for them. */
export class Arrivals<T> {
  /** All values so far. */
  readonly all: T[] = []
  readonly #waiting: ((value: T) => void)[] = []
  #taken = 0

  /** Adds a value. */
  add(value: T): void {
    this.all.push(value)
    this.#waiting.shift()?.(value)
  }

  /** The next value that this method has not returned yet. */
  next(): Promise<T> {
    const at = this.#taken++
    if (at < this.all.length) return Promise.resolve(this.all[at] as T)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
