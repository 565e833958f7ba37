import type { LiveEvent } from '../live-event.ts'

/** The network is read no further while this much audio waits for the consumer. */
const PAUSE_BYTES = 2 * 1024 * 1024
/** The network is read again when less than this waits. */
const RESUME_BYTES = 512 * 1024
/** The oldest audio is dropped above this: the consumer is gone or far too slow. */
const MAX_BYTES = 16 * 1024 * 1024
/** The oldest deltas are dropped above this. */
const MAX_EVENTS = 20_000

const DROPPABLE: ReadonlySet<LiveEvent['type']> = new Set([
  'audio',
  'text',
  'inputTranscript',
  'outputTranscript',
  'toolProgress',
  'activity',
])

/** The events of a live session on their way to its consumer. A slow consumer slows the network down; nothing grows without bound. */
export class LiveEventQueue {
  #events: LiveEvent[] = []
  #head = 0
  #bytes = 0
  #dropped = 0
  #isFull = false
  #isEnded = false
  #wake: (() => void) | undefined
  readonly #onFull: (isFull: boolean) => void

  /** `onFull` is called when the consumer falls behind, and again when it has caught up. */
  constructor(onFull: (isFull: boolean) => void) {
    this.#onFull = onFull
  }

  /** Adds an event. Never waits. */
  push(event: LiveEvent): void {
    if (this.#isEnded) return
    this.#events.push(event)
    this.#bytes += sizeOf(event)
    if (this.#bytes > MAX_BYTES || this.#events.length - this.#head > MAX_EVENTS) this.#dropOlder()
    if (!this.#isFull && this.#bytes > PAUSE_BYTES) this.#setFull(true)
    this.#notify()
  }

  /** Drops audio that the consumer has not taken: the user interrupted it. */
  dropAudio(): void {
    this.#events = this.#events.slice(this.#head).filter(({ type }) => type !== 'audio')
    this.#head = 0
    this.#bytes = 0
    if (this.#isFull) this.#setFull(false)
  }

  /** Adds the last event. Later ones are ignored. */
  end(event: LiveEvent): void {
    this.push(event)
    this.#isEnded = true
    this.#notify()
  }

  /** Takes the next event, or waits for it. Undefined after the last one. */
  async take(): Promise<LiveEvent | undefined> {
    for (;;) {
      if (this.#dropped > 0) {
        const dropped = this.#dropped
        this.#dropped = 0
        return { type: 'lagged', dropped }
      }
      const event = this.#events[this.#head]
      if (event) {
        this.#head++
        this.#bytes -= sizeOf(event)
        this.#compact()
        if (this.#isFull && this.#bytes < RESUME_BYTES) this.#setFull(false)
        return event
      }
      if (this.#isEnded) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #compact(): void {
    if (this.#head < 1_000 || this.#head * 2 < this.#events.length) return
    this.#events = this.#events.slice(this.#head)
    this.#head = 0
  }

  /** Drops the older half of the audio and the deltas. */
  #dropOlder(): void {
    const waiting = this.#events.slice(this.#head)
    let drop = Math.ceil(waiting.filter(({ type }) => DROPPABLE.has(type)).length / 2)
    this.#events = waiting.filter((event) => {
      if (drop === 0 || !DROPPABLE.has(event.type)) return true
      drop--
      this.#dropped++
      this.#bytes -= sizeOf(event)
      return false
    })
    this.#head = 0
  }

  #setFull(isFull: boolean): void {
    this.#isFull = isFull
    this.#onFull(isFull)
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

function sizeOf(event: LiveEvent): number {
  return event.type === 'audio' ? event.data.byteLength : 0
}
