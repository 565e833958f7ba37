/** A run is stopped when it prints this many times `maxOutputBytes`. */
export const FLOOD_FACTOR = 100

/**
 * What a run printed, cut to a number of bytes. Keeps the beginning of stdout and the end of stderr, because the end of
 * stderr usually says why a program failed.
 */
export class PrintedOutput {
  readonly #maxStdout: number
  readonly #maxStderr: number
  readonly #notes: string[] = []
  #stdout: Uint8Array[] = []
  #stderr: Uint8Array[] = []
  #keptStdout = 0
  #keptStderr = 0
  #seenStdout = 0
  #seenStderr = 0

  constructor(maxBytes: number) {
    this.#maxStderr = Math.ceil(maxBytes / 4)
    this.#maxStdout = maxBytes - this.#maxStderr
  }

  /** Adds bytes that the code wrote to stdout. */
  addStdout(chunk: Uint8Array): void {
    this.#seenStdout += chunk.length
    const room = this.#maxStdout - this.#keptStdout
    if (room <= 0) return
    this.#stdout.push(chunk.slice(0, room))
    this.#keptStdout += Math.min(chunk.length, room)
  }

  /** Adds bytes that the code wrote to stderr. */
  addStderr(chunk: Uint8Array): void {
    this.#seenStderr += chunk.length
    this.#stderr.push(chunk.slice(-this.#maxStderr))
    this.#keptStderr += Math.min(chunk.length, this.#maxStderr)
    if (this.#keptStderr < 2 * this.#maxStderr) return
    const end = concat(this.#stderr).slice(-this.#maxStderr)
    this.#stderr = [end]
    this.#keptStderr = end.length
  }

  /** Adds a note of the executor about the run: a line in brackets after the output. */
  addNote(text: string): void {
    this.#notes.push(`[${text}]`)
  }

  /** Whether the code printed so much that the run must be stopped. */
  get isFlooding(): boolean {
    return this.#seenStdout + this.#seenStderr > this.floodBytes
  }

  /** The code may print this many bytes, most of which are cut. */
  get floodBytes(): number {
    return FLOOD_FACTOR * (this.#maxStdout + this.#maxStderr)
  }

  /** The text for the model: stdout, stderr after a separator line, then the notes. */
  toString(): string {
    const stdout = new TextDecoder().decode(concat(this.#stdout), { stream: true }) // drops a character that was cut in two
    const cutStdout = this.#seenStdout - this.#keptStdout
    const end = concat(this.#stderr).slice(-this.#maxStderr)
    const stderr = new TextDecoder().decode(this.#seenStderr > end.length ? skipPartialCharacter(end) : end)
    const cutStderr = this.#seenStderr - end.length
    return [
      stdout.replace(/\n$/, ''),
      cutStdout > 0 ? `[cut: ${cutStdout} more bytes were printed]` : '',
      stderr === '' ? '' : '--- stderr ---',
      cutStderr > 0 ? `[cut: ${cutStderr} bytes were printed before this]` : '',
      stderr.replace(/\n$/, ''),
      ...this.#notes,
    ]
      .filter((line) => line !== '')
      .join('\n')
  }
}

/** Drops the rest of a UTF-8 character whose beginning was cut off. */
function skipPartialCharacter(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
