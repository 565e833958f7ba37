import { partsSize } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'

/**
 * The most partial events queued for a slow consumer. Above this number or the bytes below, the older half is
 * dropped.
 */
export const MAX_PARTIALS = 1_000
const MAX_PARTIAL_BYTES = 8_000_000

/** With this many partial events queued, producers wait for the consumer. */
export const MANY_PARTIALS: number = MAX_PARTIALS / 2
const MANY_PARTIAL_BYTES = MAX_PARTIAL_BYTES / 2

/** The list is compacted when this many of its events are taken. */
const MAX_TAKEN = 1_000

/**
 * The queue of events between a run and its consumer. Recorded events wait for a consumer that comes later. Partial
 * events are queued only while there is a consumer, and dropped when it is too slow.
 */
export class EventQueue {
  #events: (Event | undefined)[] = []
  #head = 0
  #notify: (() => void) | undefined
  #listeners: Set<(event: Event) => void> | undefined
  /** `none` has come yet; `gone`: no other follows. */
  #consumer: 'none' | 'reading' | 'gone' = 'none'
  /** Queued partial events, and their approximate size: one that leaves takes the mean with it, because measuring costs time. */
  #partials = 0
  #bytes = 0
  /** What producers wait for while the consumer is behind. */
  #caughtUp: PromiseWithResolvers<void> | undefined

  /** Queues an event. The promise, if any, settles when the consumer has caught up. */
  push(event: Event): Promise<void> | undefined {
    if (this.#listeners) for (const listener of [...this.#listeners]) listener(event)
    if (this.#consumer === 'gone' || (event.partial && this.#consumer === 'none')) return undefined
    if (event.partial) this.#count(event)
    this.#events.push(event)
    this.notifyConsumer()
    return this.backpressure()
  }
  /** Removes and returns the next event; undefined when there is none yet. */
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
    if (event.partial) this.#uncount()
    return event
  }
  /** Removes and returns all events. */
  takeAll(): Event[] {
    const events = this.#head === 0 ? this.#events : this.#events.slice(this.#head)
    this.#events = []
    this.#head = 0
    this.#partials = 0
    this.#bytes = 0
    this.#release()
    return events as Event[]
  }
  /** Settles on the next event, or when the run has finished. */
  waitForMore(): Promise<void> {
    return new Promise((resolve) => {
      this.#notify = resolve
    })
  }
  /** Settles `waitForMore()`. */
  notifyConsumer(): void {
    const notify = this.#notify
    this.#notify = undefined
    notify?.()
  }
  /** Call when there is a consumer: partial events are queued from then on. */
  open(): void {
    if (this.#consumer === 'none') this.#consumer = 'reading'
  }
  /** Call when the consumer has gone and no other follows. Drops all events, and those that are pushed later. */
  close(): void {
    this.#consumer = 'gone'
    this.takeAll()
  }
  /** Settles when the consumer has caught up; undefined when it is not behind. */
  backpressure(): Promise<void> | undefined {
    if (this.#partials < MANY_PARTIALS && this.#bytes < MANY_PARTIAL_BYTES) return undefined
    this.#caughtUp ??= Promise.withResolvers()
    return this.#caughtUp.promise
  }
  /** Settles when the consumer has taken all events; undefined when there are none. */
  allTaken(): Promise<void> | undefined {
    if (this.#head === this.#events.length) return undefined
    this.#caughtUp ??= Promise.withResolvers()
    return this.#caughtUp.promise
  }
  /** Calls back with every event that is pushed. The returned function removes the listener. */
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
  #uncount(): void {
    this.#bytes -= this.#bytes / this.#partials
    this.#partials--
    if (this.#caughtUp && !this.backpressure()) this.#release()
  }
  #release(): void {
    this.#caughtUp?.resolve()
    this.#caughtUp = undefined
  }
  /** Drops the older half of the partial events. The whole event follows them. */
  #dropOlder(): void {
    let drop = Math.ceil(this.#partials / 2)
    this.#events = this.#events.slice(this.#head).filter((event) => {
      if (!event?.partial || drop === 0) return true
      drop--
      this.#uncount()
      return false
    })
    this.#head = 0
  }
}

function sizeOf({ content }: Event): number {
  return content ? partsSize(content.parts, MAX_PARTIAL_BYTES) : 0
}
