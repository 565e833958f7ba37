// What of an entry a store may keep: all of it but `temp:` state.
import { type JsonObject, setOwn } from '../base/json.ts'
import { isTempKey } from '../base/key-scope.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Event, NewEntry } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import { findEventProblem, findPendingProblem, findRecordProblem } from './validate-entry.ts'

/** The entry as it may be stored. Throws on a malformed one: a store asks before it changes anything. */
export function toStorableEntry(entry: NewEntry): NewEntry {
  if (entry.event === undefined) {
    const problem = findRecordProblem(entry.record)
    if (problem !== undefined) throw unsound('A record', problem)
    return entry
  }
  const problem = findEventProblem(entry.event)
  if (problem !== undefined) throw unsound('An event', problem)
  const event = withoutTemp(entry.event)
  return event === entry.event ? entry : { event }
}

/** An event from elsewhere, which may lack the ids that the framework gives its own. */
export function withEventIds(event: Event, newId: () => string): Event {
  return { ...event, id: event.id || newId(), invocationId: event.invocationId ?? '' }
}

/** The request itself. Throws on one that a reader could not use. */
export function checkPendingRequest(request: PendingRequest): PendingRequest {
  const problem = findPendingProblem(request)
  if (problem !== undefined) throw unsound('A pending request', problem)
  return request
}

function unsound(what: string, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `${what} cannot be stored: ${problem}.`)
}

/** The event itself, or a copy without the `temp:` keys of its delta. */
function withoutTemp(event: Event): Event {
  const delta = event.actions.stateDelta
  if (!delta || !Object.keys(delta).some(isTempKey)) return event
  const kept: JsonObject = {}
  for (const key of Object.keys(delta)) if (!isTempKey(key)) setOwn(kept, key, delta[key])
  const { stateDelta: _, ...actions } = event.actions
  return { ...event, actions: Object.keys(kept).length > 0 ? { ...actions, stateDelta: kept } : actions }
}
