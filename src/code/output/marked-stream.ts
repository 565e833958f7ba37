/** Splits a stream at marks, which come in this order: what is before the first goes to the first part, and so on. */
export class MarkedStream {
  readonly #marks: readonly Buffer[]
  readonly #parts: readonly ((chunk: Uint8Array) => void)[]
  #at = 0
  /** What may be the beginning of a mark. */
  #held: Buffer = Buffer.alloc(0)

  constructor(marks: readonly string[], parts: readonly ((chunk: Uint8Array) => void)[]) {
    this.#marks = marks.map((mark) => Buffer.from(mark))
    this.#parts = parts
  }

  /** How many marks were found. */
  get found(): number {
    return this.#at
  }

  push(chunk: Uint8Array): void {
    const mark = this.#marks[this.#at]
    if (!mark) {
      this.#give(chunk)
      return
    }
    const bytes = Buffer.concat([this.#held, chunk])
    const found = bytes.indexOf(mark)
    if (found < 0) {
      const safe = Math.max(0, bytes.length - mark.length + 1)
      this.#give(bytes.subarray(0, safe))
      this.#held = bytes.subarray(safe)
      return
    }
    this.#give(bytes.subarray(0, found))
    this.#at++
    this.#held = Buffer.alloc(0)
    this.push(bytes.subarray(found + mark.length))
  }

  /** There is no more: what was held back belongs to the part it is in. */
  end(): void {
    this.#give(this.#held)
    this.#held = Buffer.alloc(0)
  }

  #give(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#parts[this.#at]?.(bytes)
  }
}
