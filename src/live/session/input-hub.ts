import type { LiveInput, LiveInputReader, LiveInputSource } from '../../tool/live-input.ts'

/** Most inputs that are kept for a tool that reads slowly. */
const MAX_INPUTS = 256

/** Passes what the user sends to the tools that read it. */
export class LiveInputHub implements LiveInputSource {
  readonly #readers: Set<InputReader> = new Set()
  #isClosed = false

  /** Starts to keep the input for one reader. */
  subscribe(): LiveInputReader {
    const reader = new InputReader(() => this.#readers.delete(reader))
    if (this.#isClosed) reader.end()
    else this.#readers.add(reader)
    return reader
  }

  /** Passes an input to all readers. */
  push(input: LiveInput): void {
    for (const reader of this.#readers) reader.push(input)
  }

  /** Ends the input of all readers. */
  close(): void {
    this.#isClosed = true
    for (const reader of [...this.#readers]) reader.end()
  }
}

class InputReader implements LiveInputReader {
  readonly #onEnd: () => void
  #inputs: LiveInput[] = []
  #dropped = 0
  #isEnded = false
  #wake: (() => void) | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  push(input: LiveInput): void {
    if (this.#inputs.length >= MAX_INPUTS) {
      this.#inputs.shift()
      this.#dropped++
    }
    this.#inputs.push(input)
    this.#notify()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#onEnd()
    this.#notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveInput, void, undefined> {
    try {
      for (;;) {
        const dropped = this.#dropped
        this.#dropped = 0
        if (dropped > 0) yield { type: 'lagged', dropped }
        const input = this.#inputs.shift()
        if (input) yield input
        else if (this.#isEnded) return
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
      }
    } finally {
      this.end()
    }
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}
