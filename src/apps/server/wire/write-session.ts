import type { JsonObject } from '../../../core/base/json.ts'
import type { Session } from '../../../services/session/service.ts'
import { EventWriter } from './event-writer.ts'
import type { WireEvent } from './write-event.ts'

/** The session on the ADK wire. */
export function writeSession({ events, ...session }: Session): JsonObject {
  const writer = new EventWriter()
  const written = new Map<string, WireEvent>() // an event that is written again keeps its position
  for (const event of events) for (const wire of writer.write(event)) written.set(wire.id, wire)
  return { ...session, events: [...written.values()] }
}
