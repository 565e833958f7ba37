import { TimerTurns } from '../../../core/base/timer-turns.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'

/** After this many lines of one chunk, timers get a turn. */
const LINES_PER_TURN = 500

/** Splits bytes into lines. A line has at most `MAX_MESSAGE_BYTES`. */
export class LineReader {
  readonly #onLine: (line: string) => void
  readonly #decoder = new TextDecoder()
  readonly #turns = new TimerTurns(LINES_PER_TURN)
  /** The start of a line whose end has not arrived. It grows by doubling, so that many small chunks cost little. */
  #start = new Uint8Array(0)
  #length = 0

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  /**
   * Adds bytes and reports every complete line. Returns a promise if the rest is reported later, because a flood of lines must not
   * keep timers waiting: add no more bytes before it settles. Throws when a line is too long.
   */
  add(chunk: Uint8Array): Promise<void> | undefined {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = this.#end(chunk.subarray(from, end))
      from = end + 1
      if (line.trim() !== '') this.#onLine(line)
      const turn = this.#turns.next()
      if (turn) return turn.then(() => this.add(chunk.subarray(from)))
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from))
    return undefined
  }

  #end(part: Uint8Array): string {
    if (this.#length === 0) return this.#decoder.decode(part)
    this.#keep(part)
    const line = this.#decoder.decode(this.#start.subarray(0, this.#length))
    this.#clear()
    return line
  }

  #keep(part: Uint8Array): void {
    const length = this.#length + part.length
    if (length > MAX_MESSAGE_BYTES) {
      this.#clear()
      throw new Error(`The MCP server sent a message of more than ${MAX_MESSAGE_BYTES} bytes.`)
    }
    if (length > this.#start.length) {
      const larger = new Uint8Array(Math.max(length, Math.min(2 * this.#start.length, MAX_MESSAGE_BYTES)))
      larger.set(this.#start.subarray(0, this.#length))
      this.#start = larger
    }
    this.#start.set(part, this.#length)
    this.#length = length
  }

  #clear(): void {
    this.#start = new Uint8Array(0)
    this.#length = 0
  }
}
