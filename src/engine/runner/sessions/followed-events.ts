// Which events a caller gets that follows a run.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import { eventsBeforePartial } from '../../../core/event/partial-id.ts'

/** The index after the event, in the ids of all events. Throws INVALID_REQUEST if there is no such event. */
export function positionAfter(ids: readonly string[], eventId: string | undefined): number {
  if (eventId === undefined) return ids.length
  const at = ids.lastIndexOf(eventId)
  if (at >= 0) return at + 1
  const before = eventsBeforePartial(eventId)
  const run = eventId.slice(0, eventId.lastIndexOf('-') + 1)
  // the message of the run is stored before its first partial event
  if (before !== undefined && before <= ids.length && ids.some((id) => id.startsWith(run))) return before
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `The session has no event "${eventId}". Pass the id of an event of this session, or read the whole session again.`,
  )
}

/** Consumers do not get the user's own events. */
export function forConsumer(events: readonly Event[]): Event[] {
  return events.filter(({ author }) => author !== 'user')
}
