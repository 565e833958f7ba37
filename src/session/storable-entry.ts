import { type JsonObject, setOwn } from '../base/json.ts'
import { isTempKey } from '../base/key-scope.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Event, NewEntry } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import { findEventProblem, findPendingProblem, findRecordProblem } from './validate-entry.ts'

/** The entry without `temp:` state. Throws INVALID_REQUEST if the entry is malformed. A store calls it before it writes. */
export function toStorableEntry(entry: NewEntry): NewEntry {
  if (entry.event === undefined) {
    const problem = findRecordProblem(entry.record)
    if (problem !== undefined) throw notStorable('A record', problem)
    return entry
  }
  const problem = findEventProblem(entry.event)
  if (problem !== undefined) throw notStorable('An event', problem)
  const event = withoutTempState(entry.event)
  return event === entry.event ? entry : { event }
}

/** Adds missing ids to an event that another framework created. */
export function withEventIds(event: Event, newId: () => string): Event {
  return { ...event, id: event.id || newId(), invocationId: event.invocationId ?? '' }
}

/** Returns the request. Throws INVALID_REQUEST if it is malformed. */
export function checkPendingRequest(request: PendingRequest): PendingRequest {
  const problem = findPendingProblem(request)
  if (problem !== undefined) throw notStorable('A pending request', problem)
  return request
}

function notStorable(what: string, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `${what} cannot be stored: ${problem}.`)
}

/** The event itself, or a copy if its state delta has `temp:` keys. */
function withoutTempState(event: Event): Event {
  const delta = event.actions.stateDelta
  if (!delta || !Object.keys(delta).some(isTempKey)) return event
  const kept: JsonObject = {}
  for (const key of Object.keys(delta)) if (!isTempKey(key)) setOwn(kept, key, delta[key])
  const { stateDelta: _, ...actions } = event.actions
  return { ...event, actions: Object.keys(kept).length > 0 ? { ...actions, stateDelta: kept } : actions }
}
