import type { Event } from '../../core/event/event.ts'
import { toStorableEntry, withEventIds } from './storable-entry.ts'

/**
 * The events as `createSession` stores them: finished history, marked as `imported`. Without a scope path, their calls never run,
 * wait or count as interrupted. Every store passes the given events through this function. Throws INVALID_REQUEST if an event is
 * malformed.
 */
export function importedEvents(events: readonly Event[], newId: () => string): Event[] {
  return withoutOpenMessages(events.map((event) => toHistory(withEventIds(event, newId))))
}

/** The mark is set here only, whatever the given event says: an auditor must know that this app did not see it happen. */
function toHistory(given: Event): Event {
  const { event = given } = toStorableEntry({ event: given })
  const { nodeInfo: _, ...history } = event
  return { ...history, imported: true }
}

/**
 * A message without a reply joins the invocation before it, or after it: alone it would count as interrupted. Messages of an
 * import without any reply stay as they are, so that a run can answer them.
 */
function withoutOpenMessages(events: readonly Event[]): Event[] {
  const replied = events.filter(({ author }) => author !== 'user').map(({ invocationId }) => invocationId)
  const isReplied = new Set(replied)
  let [latest] = replied
  return events.map((event) => {
    if (isReplied.has(event.invocationId)) latest = event.invocationId
    return latest === undefined || latest === event.invocationId ? event : { ...event, invocationId: latest }
  })
}
