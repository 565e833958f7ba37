const LF = 10
const CR = 13
const ID_FIELD = [105, 100, 58] // "id:"

/** Measures the events of a stream of server-sent events. An empty line ends an event. */
export class SseSizes {
  /** Bytes since the last empty line. */
  #bytes = 0
  /** Bytes of the current line. */
  #line = 0
  #last = 0
  #matched = 0
  /** Has an event an id? Then the client can resume the stream. */
  hasIds = false

  /** Adds bytes. Returns the size of the largest event that they belong to. */
  add(chunk: Uint8Array): number {
    let largest = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number
      const isSecondOfPair = byte === LF && this.#last === CR
      this.#last = byte
      this.#bytes++
      if (byte !== LF && byte !== CR) this.#addToLine(byte)
      else if (!isSecondOfPair) {
        if (this.#line === 0) {
          largest = Math.max(largest, this.#bytes)
          this.#bytes = 0
        }
        this.#line = 0
        this.#matched = 0
      }
    }
    return Math.max(largest, this.#bytes)
  }

  #addToLine(byte: number): void {
    if (this.#matched === this.#line && byte === ID_FIELD[this.#line]) this.#matched++
    this.#line++
    if (this.#line === ID_FIELD.length && this.#matched === this.#line) this.hasIds = true
  }
}
