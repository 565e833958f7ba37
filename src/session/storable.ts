// What of an entry a store may keep: all of it but `temp:` state.
import { isRecord, type JsonObject, setOwn } from '../base/json.ts'
import type { Content } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Event, NewEntry } from '../event/event.ts'

/** The entry as it may be stored. Throws on a malformed one: a store asks before it changes anything. */
export function toStorable(entry: NewEntry): NewEntry {
  if (entry.event === undefined) return entry
  checkEvent(entry.event)
  const event = withoutTemp(entry.event)
  return event === entry.event ? entry : { event }
}

/** What every reader of a log relies on. Readers do not check again, except a file's, which others may have written. */
function checkEvent({ content, nodeInfo, longRunningToolIds, actions }: Event): void {
  if (typeof actions !== 'object' || actions === null) throw unsound('its actions are an object')
  if (actions.stateDelta !== undefined && !isRecord(actions.stateDelta)) throw unsound('a stateDelta is an object')
  if (content && !isContent(content)) throw unsound('the content of an event is a list of parts')
  if (nodeInfo && typeof nodeInfo.path !== 'string') throw unsound('nodeInfo.path is a text')
  if (longRunningToolIds && !Array.isArray(longRunningToolIds)) throw unsound('longRunningToolIds is a list')
}

function isContent({ parts }: Content): boolean {
  if (!Array.isArray(parts)) return false
  for (let at = 0; at < parts.length; at++) if (typeof parts[at] !== 'object' || parts[at] === null) return false
  return true
}

function unsound(why: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `An event cannot be stored: ${why}.`)
}

/** Does the key live as long as its run, and is never stored? */
export function isTemp(key: string): boolean {
  return key.startsWith('temp:')
}

/** The event itself, or a copy without the `temp:` keys of its delta. */
function withoutTemp(event: Event): Event {
  const delta = event.actions.stateDelta
  if (!delta || !Object.keys(delta).some(isTemp)) return event
  const kept: JsonObject = {}
  for (const key of Object.keys(delta)) if (!isTemp(key)) setOwn(kept, key, delta[key])
  const { stateDelta: _, ...actions } = event.actions
  return { ...event, actions: Object.keys(kept).length > 0 ? { ...actions, stateDelta: kept } : actions }
}
