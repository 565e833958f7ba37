// Encodes entries before a transaction begins, so that an invalid entry fails outside the transaction.
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { NewEntry } from '../event/event.ts'
import { toStorableEntry } from '../session/storable-entry.ts'
import { encodeStateDelta, type StateChange } from './state-rows.ts'
import { toJson, toText } from './text-encoding.ts'

/** An entry as columns, with its state changes. */
export interface EncodedEntry {
  /** The entry as it is returned to readers. */
  readonly entry: NewEntry
  /** Id of the event; undefined for a record. */
  readonly eventId: string | undefined
  /** The event or record as JSON. */
  readonly body: string
  /** State changes of the event. */
  readonly changes: readonly StateChange[]
}

/** Encodes entries and drops partial events. Throws INVALID_REQUEST for an entry that cannot be stored. */
export function encodeEntries(entries: readonly NewEntry[]): EncodedEntry[] {
  return entries.filter((entry) => !entry.event?.partial).map(encodeEntry)
}

function encodeEntry(given: NewEntry): EncodedEntry {
  try {
    const entry = toStorableEntry(given)
    if (entry.event === undefined) {
      return { entry, eventId: undefined, body: toJson(entry.record, 'A record'), changes: [] }
    }
    const { id, actions } = entry.event
    const changes = actions.stateDelta ? encodeStateDelta(actions.stateDelta) : []
    return { entry, eventId: toText(id), body: toJson(entry.event, 'An event'), changes }
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    throw new ToolwrightError('INVALID_REQUEST', `An entry cannot be stored: ${messageOf(error)}`, { cause: error })
  }
}
