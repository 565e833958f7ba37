// The last events of a 2025 session over HTTP, so that a client whose stream broke gets what it missed.
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** Most events that are kept. */
const MAX_EVENTS = 100

/** Most characters of JSON that are kept. A larger event is not kept. */
const MAX_CHARACTERS = 1_000_000

interface StoredEvent {
  readonly id: string
  readonly streamId: string
  readonly message: JSONRPCMessage
  readonly size: number
}

/** Keeps the last events of one session. The oldest are dropped. */
export class RecentEvents implements EventStore {
  #events: StoredEvent[] = []
  #size = 0
  #count = 0

  /** Keeps an event and returns its id. */
  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const id = String(++this.#count)
    const size = JSON.stringify(message).length
    if (size > MAX_CHARACTERS) return id
    this.#events.push({ id, streamId, message, size })
    this.#size += size
    while (this.#events.length > MAX_EVENTS || this.#size > MAX_CHARACTERS)
      this.#size -= this.#events.shift()?.size ?? 0
    return id
  }

  /** The stream of an event. Undefined if the event is not kept. */
  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.streamId
  }

  /** Sends the events of the same stream that followed an event. Returns the stream. */
  async replayEventsAfter(
    lastId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex((event) => event.id === lastId)
    const streamId = this.#events[at]?.streamId
    if (streamId === undefined) throw new Error('The event is not kept any more.')
    const missed = this.#events.slice(at + 1).filter((event) => event.streamId === streamId)
    for (const { id, message } of missed) if (Object.keys(message).length) await send(id, message)
    return streamId
  }
}
