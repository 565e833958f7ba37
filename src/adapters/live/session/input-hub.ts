import type { LiveInput, LiveInputReader, LiveInputSource } from '../../../engine/model/live-input.ts'

/** Most inputs that are kept for a tool that reads slowly. */
const MAX_INPUTS = 256
/** Most bytes of audio and video that are kept for it. */
const MAX_BYTES = 16 * 1024 * 1024

/** Passes what the user sends to the tools that read it. */
export class LiveInputHub implements LiveInputSource {
  #state: 'open' | 'closed' = 'open'
  /** The tools that read now. */
  readonly readers: Set<InputReader> = new Set()

  /** Starts to keep the input for one reader. */
  subscribe(): LiveInputReader {
    const reader = new InputReader(() => this.readers.delete(reader))
    if (this.#state === 'closed') reader.end()
    else this.readers.add(reader)
    return reader
  }

  /** Passes an input to all readers. */
  push(input: LiveInput): void {
    if (this.readers.size === 0) return
    const kept = copyOf(input)
    for (const reader of this.readers) reader.push(kept)
  }

  /** Ends the input of all readers. */
  close(): void {
    this.#state = 'closed'
    for (const reader of [...this.readers]) reader.end()
  }
}

/** The sender may use its buffer again. */
function copyOf(input: LiveInput): LiveInput {
  return 'data' in input ? { ...input, data: input.data.slice() } : input
}

function sizeOf(input: LiveInput): number {
  return 'data' in input ? input.data.byteLength : 0
}

class InputReader implements LiveInputReader {
  readonly #onEnd: () => void
  #inputs: LiveInput[] = []
  #bytes = 0
  #dropped = 0
  #state: 'open' | 'ended' = 'open'
  #wake: (() => void) | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  push(input: LiveInput): void {
    this.#inputs.push(input)
    this.#bytes += sizeOf(input)
    while (this.#inputs.length > MAX_INPUTS || (this.#bytes > MAX_BYTES && this.#inputs.length > 1)) {
      this.#take()
      this.#dropped++
    }
    this.#notify()
  }

  #take(): LiveInput | undefined {
    const input = this.#inputs.shift()
    if (input) this.#bytes -= sizeOf(input)
    return input
  }

  end(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#onEnd()
    this.#notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveInput, void, undefined> {
    try {
      for (;;) {
        const dropped = this.#dropped
        this.#dropped = 0
        if (dropped > 0) yield { type: 'lagged', dropped }
        const input = this.#take()
        if (input) yield input
        else if (this.#state === 'ended') return
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
