import type { Event } from '../../../core/event/event.ts'
import { type WireEvent, writeEvent } from './write-event.ts'

/**
 * Writes the events of one session in order. A body can decide that its call is long-running after the event with the call was
 * written. That event is then written again, with the id of the call in `longRunningToolIds`.
 */
export class EventWriter {
  /** The id of the event with a call, by the id of the call. */
  readonly #eventIds: Map<string, string> = new Map()
  /** The written events with calls, by id. */
  readonly #withCalls: Map<string, WireEvent> = new Map()

  /** The events to send for an event of the log: usually one. */
  write(event: Event): WireEvent[] {
    const written = writeEvent(event)
    if (event.partial) return [written]
    const again = this.#declareLate(event.longRunningToolIds ?? [])
    this.#keepCalls(event, written)
    return [...again, written]
  }

  #keepCalls({ content }: Event, written: WireEvent): void {
    for (const { functionCall } of content?.parts ?? []) {
      if (functionCall?.id === undefined) continue
      this.#eventIds.set(functionCall.id, written.id)
      this.#withCalls.set(written.id, written)
    }
  }

  /** The earlier events with these calls, which did not declare them as long-running. */
  #declareLate(callIds: readonly string[]): WireEvent[] {
    const changed = new Set<string>()
    for (const callId of callIds) {
      const earlier = this.#withCalls.get(this.#eventIds.get(callId) ?? '')
      if (!earlier) continue
      const declared = Array.isArray(earlier.longRunningToolIds) ? earlier.longRunningToolIds : []
      if (declared.includes(callId)) continue
      this.#withCalls.set(earlier.id, { ...earlier, longRunningToolIds: [...declared, callId] })
      changed.add(earlier.id)
    }
    return [...changed].flatMap((id) => this.#withCalls.get(id) ?? [])
  }
}

/** The events of a run on the ADK wire. */
export async function* wireEvents(run: AsyncIterable<Event>): AsyncGenerator<WireEvent> {
  const writer = new EventWriter()
  for await (const event of run) yield* writer.write(event)
}
