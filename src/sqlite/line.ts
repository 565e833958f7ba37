// Entries in writing, before a transaction begins: all that can fail on a malformed one fails here.
import { messageOf, ToolwrightError } from '../error/error.ts'
import type { NewEntry } from '../event/event.ts'
import { toStorableEntry } from '../session/storable-entry.ts'
import { type Change, toChanges } from './state-rows.ts'
import { toJson, toText } from './text.ts'

/** An entry as it goes into its row, and the changes of state it brings. */
export interface Line {
  readonly entry: NewEntry
  /** Absent for a record. */
  readonly eventId: string | undefined
  readonly body: string
  readonly changes: readonly Change[]
}

/** The entries that are to be stored; partial events are not. Throws INVALID_REQUEST on what cannot be. */
export function toLines(entries: readonly NewEntry[]): Line[] {
  return entries.filter((entry) => !entry.event?.partial).map(toLine)
}

function toLine(given: NewEntry): Line {
  try {
    const entry = toStorableEntry(given)
    if (entry.event === undefined) {
      return { entry, eventId: undefined, body: toJson(entry.record, 'A record'), changes: [] }
    }
    const { id, actions } = entry.event
    const changes = actions.stateDelta ? toChanges(actions.stateDelta) : []
    return { entry, eventId: toText(id), body: toJson(entry.event, 'An event'), changes }
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    throw new ToolwrightError('INVALID_REQUEST', `An entry cannot be stored: ${messageOf(error)}`, { cause: error })
  }
}
