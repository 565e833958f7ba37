import { registerShape } from '../../base/object-shapes.ts'
import { partsSize } from '../../content/content.ts'
import type { Event } from '../../event/event.ts'

/** Partial events kept for a consumer that is behind; beyond either limit the older half of them is dropped. */
export const MAX_PARTIALS = 1_000
const MAX_PARTIAL_BYTES = 8_000_000

/** With so many of them unread, a producer that can wait does. */
export const MANY_PARTIALS: number = MAX_PARTIALS / 2
const MANY_PARTIAL_BYTES = MAX_PARTIAL_BYTES / 2

/** Places of events that were taken, before the list is made anew. */
const MAX_TAKEN = 1_000

/**
 * The events of a run on their way to its consumer. Partial events are kept only for one that reads, and only so many;
 * the others are the log's own objects, and wait for a consumer that comes later.
 */
export class EventQueue {
  #events: (Event | undefined)[] = []
  #head = 0
  #wake: (() => void) | undefined
  #listeners: Set<(event: Event) => void> | undefined
  #isRead = false
  #isClosed = false
  /** Partial events that were not taken yet, and about how many bytes they have. */
  #partials = 0
  #bytes = 0
  /** Resolves for producers when the consumer has caught up. */
  #drained: PromiseWithResolvers<void> | undefined

  /** A promise when the consumer is behind. */
  push(event: Event): Promise<void> | undefined {
    if (this.#listeners) for (const listener of [...this.#listeners]) listener(event)
    if (this.#isClosed || (event.partial && !this.#isRead)) return undefined
    if (event.partial) this.#count(event)
    this.#events.push(event)
    this.notifyConsumer()
    return this.backpressure()
  }
  /** The next one; undefined when there is none yet. */
  takeNext(): Event | undefined {
    if (this.#head === this.#events.length) {
      if (this.#head > 0) this.takeAll()
      return undefined
    }
    const event = this.#events[this.#head] as Event
    this.#events[this.#head++] = undefined
    if (this.#head > MAX_TAKEN && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head)
      this.#head = 0
    }
    if (event.partial) this.#forget(event)
    return event
  }
  /** All that are there. */
  takeAll(): Event[] {
    const events = this.#head === 0 ? this.#events : this.#events.slice(this.#head)
    this.#events = []
    this.#head = 0
    this.#partials = 0
    this.#bytes = 0
    this.#release()
    return events as Event[]
  }
  /** Settles when there is something new: an event, or the end. */
  waitForMore(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
  notifyConsumer(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
  /** There is a consumer: partial events are kept for it from now on. */
  open(): void {
    this.#isRead = true
  }
  /** The consumer has gone and none will come: nothing is kept any more. */
  close(): void {
    this.#isClosed = true
    this.takeAll()
  }
  /** Settles when the consumer has caught up; undefined when it is not behind. */
  backpressure(): Promise<void> | undefined {
    if (this.#partials < MANY_PARTIALS && this.#bytes < MANY_PARTIAL_BYTES) return undefined
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }
  /** Calls back with every event as it comes; the returned function takes it back. */
  listen(callback: (event: Event) => void): () => void {
    this.#listeners ??= new Set()
    this.#listeners.add(callback)
    return () => this.#listeners?.delete(callback)
  }

  #count(event: Event): void {
    const bytes = sizeOf(event)
    if (this.#partials >= MAX_PARTIALS || this.#bytes + bytes > MAX_PARTIAL_BYTES) this.#dropOlder()
    this.#partials++
    this.#bytes += bytes
  }
  #forget(event: Event): void {
    this.#partials--
    this.#bytes -= sizeOf(event)
    if (this.#drained && !this.backpressure()) this.#release()
  }
  #release(): void {
    this.#drained?.resolve()
    this.#drained = undefined
  }
  /** The whole follows anyway. */
  #dropOlder(): void {
    let drop = Math.ceil(this.#partials / 2)
    this.#events = this.#events.slice(this.#head).filter((event) => {
      if (!event?.partial || drop === 0) return true
      drop--
      this.#partials--
      this.#bytes -= sizeOf(event)
      return false
    })
    this.#head = 0
  }
}

function sizeOf({ content }: Event): number {
  return content ? partsSize(content.parts, MAX_PARTIAL_BYTES) : 0
}

registerShape(() => new EventQueue())
