/** Splits a byte stream at marks that appear in a fixed order. Bytes before the first mark go to the first part, and so on. */
export class MarkedStream {
  readonly #marks: readonly Buffer[]
  readonly #parts: readonly ((chunk: Uint8Array) => void)[]
  #partIndex = 0
  /** Bytes that may be the beginning of the next mark. */
  #buffered: Buffer = Buffer.alloc(0)

  constructor(marks: readonly string[], parts: readonly ((chunk: Uint8Array) => void)[]) {
    this.#marks = marks.map((mark) => Buffer.from(mark))
    this.#parts = parts
  }

  /** How many marks the stream has contained so far. */
  get marksFound(): number {
    return this.#partIndex
  }

  /** Adds the next chunk of the stream. */
  push(chunk: Uint8Array): void {
    const mark = this.#marks[this.#partIndex]
    if (!mark) {
      this.#emit(chunk)
      return
    }
    const bytes = Buffer.concat([this.#buffered, chunk])
    const found = bytes.indexOf(mark)
    if (found < 0) {
      const safe = Math.max(0, bytes.length - mark.length + 1)
      this.#emit(bytes.subarray(0, safe))
      this.#buffered = bytes.subarray(safe)
      return
    }
    this.#emit(bytes.subarray(0, found))
    this.#partIndex++
    this.#buffered = Buffer.alloc(0)
    this.push(bytes.subarray(found + mark.length))
  }

  /** Ends the stream. Bytes that looked like the beginning of a mark go to the current part. */
  end(): void {
    this.#emit(this.#buffered)
    this.#buffered = Buffer.alloc(0)
  }

  #emit(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#parts[this.#partIndex]?.(bytes)
  }
}
