/** The most bytes of one message of an MCP server. */
export const MAX_MESSAGE_BYTES: number = 32 * 1024 * 1024

/** Splits bytes into lines. A line has at most `MAX_MESSAGE_BYTES`. */
export class LineReader {
  readonly #onLine: (line: string) => void
  readonly #decoder = new TextDecoder()
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  /** Adds bytes and reports every complete line. Throws when a line is too long. */
  add(chunk: Uint8Array): void {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end))
      from = end + 1
      const line = this.#take()
      if (line.trim() !== '') this.#onLine(line)
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from))
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes > MAX_MESSAGE_BYTES) {
      this.#parts = []
      throw new Error(`The MCP server sent a message of more than ${MAX_MESSAGE_BYTES} bytes.`)
    }
    this.#parts.push(part)
  }

  #take(): string {
    const [only] = this.#parts
    const bytes = this.#parts.length === 1 && only ? only : concat(this.#parts, this.#bytes)
    this.#parts = []
    this.#bytes = 0
    return this.#decoder.decode(bytes)
  }
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
