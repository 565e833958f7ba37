/** Past so many times what is kept, a program is no longer printing but flooding. */
export const FLOOD = 100

/**
 * What a run printed, cut to a number of bytes: the beginning of stdout, and the end of stderr, where a program says
 * why it failed.
 */
export class Output {
  readonly #maxOut: number
  readonly #maxErr: number
  readonly #notes: string[] = []
  #out: Uint8Array[] = []
  #err: Uint8Array[] = []
  #keptOut = 0
  #keptErr = 0
  #seenOut = 0
  #seenErr = 0

  constructor(maxBytes: number) {
    this.#maxErr = Math.ceil(maxBytes / 4)
    this.#maxOut = maxBytes - this.#maxErr
  }

  out(chunk: Uint8Array): void {
    this.#seenOut += chunk.length
    const room = this.#maxOut - this.#keptOut
    if (room <= 0) return
    this.#out.push(chunk.slice(0, room))
    this.#keptOut += Math.min(chunk.length, room)
  }

  err(chunk: Uint8Array): void {
    this.#seenErr += chunk.length
    this.#err.push(chunk.slice(-this.#maxErr))
    this.#keptErr += Math.min(chunk.length, this.#maxErr)
    if (this.#keptErr < 2 * this.#maxErr) return
    const end = concat(this.#err).slice(-this.#maxErr)
    this.#err = [end]
    this.#keptErr = end.length
  }

  /** A word of ours, on a line of its own at the end. */
  note(text: string): void {
    this.#notes.push(`[${text}]`)
  }

  /** It prints so much more than is kept that it should be stopped. */
  get isFlood(): boolean {
    return this.#seenOut + this.#seenErr > FLOOD * (this.#maxOut + this.#maxErr)
  }

  toString(): string {
    const out = new TextDecoder().decode(concat(this.#out), { stream: true }) // a character that was cut is left out
    const lostOut = this.#seenOut - this.#keptOut
    const end = concat(this.#err).slice(-this.#maxErr)
    const err = new TextDecoder().decode(this.#seenErr > end.length ? fromCharacter(end) : end)
    const lostErr = this.#seenErr - end.length
    return [
      out.replace(/\n$/, ''),
      lostOut > 0 ? `[cut: ${lostOut} more bytes were printed]` : '',
      err === '' ? '' : '--- stderr ---',
      lostErr > 0 ? `[cut: ${lostErr} bytes came before this]` : '',
      err.replace(/\n$/, ''),
      ...this.#notes,
    ]
      .filter((line) => line !== '')
      .join('\n')
  }
}

/** Without the end of a character whose beginning was cut off. */
function fromCharacter(bytes: Uint8Array): Uint8Array {
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
