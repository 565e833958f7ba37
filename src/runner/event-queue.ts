import { keepShape } from '../base/keep-shape.ts'
import type { Event } from '../event/event.ts'

/** The events of a run on their way to whoever follows it. */
export class EventQueue {
  #events: Event[] = []
  #head = 0
  #wake: (() => void) | undefined
  #listeners: Set<(event: Event) => void> | undefined

  push(event: Event): void {
    this.#events.push(event)
    if (this.#listeners) for (const listener of [...this.#listeners]) listener(event)
    this.wake()
  }
  /** The next one; undefined when there is none yet. */
  take(): Event | undefined {
    if (this.#head < this.#events.length) return this.#events[this.#head++]
    if (this.#head > 0) this.takeAll()
    return undefined
  }
  /** All that are there. */
  takeAll(): Event[] {
    const events = this.#head === 0 ? this.#events : this.#events.slice(this.#head)
    this.#events = []
    this.#head = 0
    return events
  }
  /** Settles when there is something new: an event, or the end. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
  wake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
  /** Calls back with every event as it comes; the returned function takes it back. */
  listen(callback: (event: Event) => void): () => void {
    this.#listeners ??= new Set()
    this.#listeners.add(callback)
    return () => this.#listeners?.delete(callback)
  }
}

keepShape(() => new EventQueue())
