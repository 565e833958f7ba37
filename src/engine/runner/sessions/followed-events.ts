// Which events a caller gets that follows a run.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import { eventsBeforePartial } from '../../../core/event/partial-id.ts'

/**
 * The index after the event, in the ids of the events in memory. `eventsBefore`: the number of events before those. Throws
 * INVALID_REQUEST if there is no such event.
 */
export function positionAfter(ids: readonly string[], eventId: string | undefined, eventsBefore = 0): number {
  const position = findPositionAfter(ids, eventId, eventsBefore)
  if (position !== undefined) return position
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `The session has no event "${eventId}". Pass the id of an event of this session, or read the whole session again.`,
  )
}

/** The index after the event, or undefined if it is not in memory. */
export function findPositionAfter(
  ids: readonly string[],
  eventId: string | undefined,
  eventsBefore: number,
): number | undefined {
  if (eventId === undefined) return ids.length
  const at = ids.lastIndexOf(eventId)
  if (at >= 0) return at + 1
  const before = positionOfPartial(eventId, eventsBefore)
  const run = eventId.slice(0, eventId.lastIndexOf('-') + 1)
  // the message of the run is stored before its first partial event
  const isThere = before !== undefined && before <= ids.length && ids.some((id) => id.startsWith(run))
  return isThere ? before : undefined
}

/** How many of the events in memory came before a partial event; undefined if the id is not one of a partial event among them. */
export function positionOfPartial(eventId: string, eventsBefore: number): number | undefined {
  const before = eventsBeforePartial(eventId)
  return before === undefined || before < eventsBefore ? undefined : before - eventsBefore
}

/** Consumers do not get the user's own events. */
export function forConsumer(events: readonly Event[]): Event[] {
  return events.filter(({ author }) => author !== 'user')
}
