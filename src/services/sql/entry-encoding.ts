// Encodes entries before a transaction begins, so that an invalid entry fails outside the transaction.
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import type { Entry, NewEntry } from '../../core/event/event.ts'
import { toStorableEntry } from '../session/storable-entry.ts'
import { toJson, toText } from './escaped-text.ts'
import { LARGE_BYTES, sizeOfParts } from './large-parts.ts'
import { encodeStateDelta, type StateChange } from './state-change.ts'

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

/** Do the parts of these entries, which may have any shape, take long to encode? */
export function areLarge(entries: readonly NewEntry[]): boolean {
  let size = 0
  for (const entry of entries) size += sizeOfParts(entry?.event?.content?.parts)
  return size > LARGE_BYTES
}

/** The length of encoded entries. */
export function sizeOfEncoded(lines: readonly EncodedEntry[]): number {
  return lines.reduce((sum, { body }) => sum + body.length, 0)
}

/** Encodes entries and drops partial events. Throws INVALID_REQUEST for an entry that cannot be stored. */
export function encodeEntries(entries: readonly NewEntry[]): EncodedEntry[] {
  return entries.filter((entry) => !entry.event?.partial).map(encodeEntry)
}

/** Entries as readers of the log get them. `seq`: the last sequence number before them. */
export function entriesAfter(seq: number, added: readonly EncodedEntry[]): Entry[] {
  return added.map(({ entry }, index) => ({ seq: seq + index + 1, ...entry }))
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
