/** How much is kept. */
export interface RecordLimits {
  /** The most records. */
  readonly count: number
  /** The most characters of all records. */
  readonly characters: number
}

/** Records in memory. When there are too many, the oldest are dropped. */
export class BoundedRecords<T> {
  readonly #limits: RecordLimits
  /** The latest last. */
  readonly #records: Map<string, { readonly value: T; readonly characters: number }> = new Map()
  #characters = 0

  constructor(limits: RecordLimits) {
    this.#limits = limits
  }

  /** Adds or replaces a record of a size. One that is larger than all may be is not kept. */
  set(key: string, value: T, size: number): void {
    this.#delete(key)
    const characters = key.length + size
    this.#records.set(key, { value, characters })
    this.#characters += characters
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= this.#limits.count && this.#characters <= this.#limits.characters) return
      this.#delete(oldest)
    }
  }

  /** The record; undefined if there is none, or none any more. */
  get(key: string): T | undefined {
    return this.#records.get(key)?.value
  }

  #delete(key: string): void {
    this.#characters -= this.#records.get(key)?.characters ?? 0
    this.#records.delete(key)
  }
}
