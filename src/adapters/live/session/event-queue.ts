import type { LiveEvent } from '../../../engine/model/live-event.ts'

/** The network is read no further while this much audio and text waits for the consumer. */
const PAUSE_BYTES = 2 * 1024 * 1024
/** The network is read again when less than this waits. */
const RESUME_BYTES = 512 * 1024
/** The oldest audio is dropped above this: the consumer is gone or far too slow. */
const MAX_BYTES = 16 * 1024 * 1024
/** The oldest deltas are dropped above this. */
const MAX_EVENTS = 20_000

type EventTypes = ReadonlySet<LiveEvent['type']>

/** Events that a consumer can do without: what they say is also recorded, or over. */
const DELTAS: EventTypes = new Set([
  'audio',
  'text',
  'inputTranscript',
  'outputTranscript',
  'toolProgress',
  'activity',
  'hook',
])
/** Events that are never dropped: a person must answer, or something went wrong. */
const KEPT: EventTypes = new Set(['request', 'error'])

/** The events of a live session on their way to its consumer. A slow consumer slows the network down; nothing grows without bound. */
export class LiveEventQueue {
  /** From `#head` on. Taken events are gone at once: they may hold much audio. */
  #events: (LiveEvent | undefined)[] = []
  #head = 0
  #bytes = 0
  #dropped = 0
  #consumer: 'keeps up' | 'is behind' = 'keeps up'
  #state: 'open' | 'ended' = 'open'
  #wake: (() => void) | undefined
  readonly #onFull: (isFull: boolean) => void

  /** `onFull` is called when the consumer falls behind, and again when it has caught up. */
  constructor(onFull: (isFull: boolean) => void) {
    this.#onFull = onFull
  }

  /** Adds an event. Never waits. */
  push(event: LiveEvent): void {
    if (this.#state === 'ended') return
    this.#events.push(event)
    this.#bytes += sizeOf(event)
    if (this.#bytes > MAX_BYTES || this.#events.length - this.#head > MAX_EVENTS) this.#dropOlder()
    if (this.#consumer === 'keeps up' && this.#bytes > PAUSE_BYTES) this.#setFull(true)
    this.#notify()
  }

  /** Drops audio that the consumer has not taken: the user interrupted it. */
  dropAudio(): void {
    this.#filter(({ type }) => type !== 'audio')
    if (this.#consumer === 'is behind' && this.#bytes < RESUME_BYTES) this.#setFull(false)
  }

  /** Adds the last event. Later ones are ignored. */
  end(event: LiveEvent): void {
    this.push(event)
    this.#state = 'ended'
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
        this.#events[this.#head++] = undefined
        this.#bytes -= sizeOf(event)
        this.#compact()
        if (this.#consumer === 'is behind' && this.#bytes < RESUME_BYTES) this.#setFull(false)
        return event
      }
      if (this.#state === 'ended') return undefined
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

  /** Drops the older half of the audio and the deltas. If nearly everything is something else, drops the older half of that. */
  #dropOlder(): void {
    const count = this.#events.length - this.#head
    this.#dropOldest((type) => DELTAS.has(type))
    if (this.#events.length > count - count / 20) this.#dropOldest((type) => !KEPT.has(type))
  }

  #dropOldest(canDrop: (type: LiveEvent['type']) => boolean): void {
    const waiting = this.#events.slice(this.#head)
    let drop = Math.ceil(waiting.filter((event) => event && canDrop(event.type)).length / 2)
    this.#filter(({ type }) => {
      if (drop === 0 || !canDrop(type)) return true
      drop--
      this.#dropped++
      return false
    })
  }

  #filter(keep: (event: LiveEvent) => boolean): void {
    this.#events = this.#events.slice(this.#head).filter((event) => event && keep(event))
    this.#head = 0
    this.#bytes = this.#events.reduce((sum, event) => sum + (event ? sizeOf(event) : 0), 0)
  }

  #setFull(isFull: boolean): void {
    this.#consumer = isFull ? 'is behind' : 'keeps up'
    this.#onFull(isFull)
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

function sizeOf(event: LiveEvent): number {
  if (event.type === 'audio') return event.data.byteLength
  return 'text' in event ? event.text.length * 2 : 0
}
