import type { JsonObject } from '../../../base/json.ts'

/** The events of a client, and the calls that wait for one. */
export class EventInbox {
  /** All events so far. */
  readonly events: JsonObject[] = []
  readonly #taken: Map<string, number> = new Map()
  #waiting: (() => void)[] = []
  #isClosed = false

  /** Adds an event. */
  add(event: JsonObject): void {
    this.events.push(event)
    this.#wake()
  }

  /** No event follows. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** The next event of this type that was not returned yet. Rejects when none follows. */
  async next(type: string): Promise<JsonObject> {
    const position = this.#taken.get(type) ?? 0
    this.#taken.set(type, position + 1)
    for (;;) {
      const found = this.events.filter((event) => event.type === type)[position]
      if (found) return found
      if (this.#isClosed) throw new Error(`The connection ended before the client sent ${type} number ${position + 1}.`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
