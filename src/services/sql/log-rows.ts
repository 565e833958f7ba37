import { canonicalJson } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { EncodedEntry } from './entry-encoding.ts'
import { fromJson } from './escaped-text.ts'
import { MultiRowInsert } from './multi-row-insert.ts'
import type { RowOwner } from './session-row.ts'
import { changesOf, command, query, rowOf, type SqlWork, type Statement } from './sql.ts'

/** The session a log belongs to: its row id, and its id for error messages. */
export type LogOwner = Pick<RowOwner, 'id' | 'session'>

/** The log entries of all sessions. Sequence numbers of a session start at 1 without gaps; event ids are unique in it. */
export class LogRows {
  readonly #insert: MultiRowInsert = new MultiRowInsert(
    'toolwright_entries (session, seq, event_id, body)',
    4,
    'ON CONFLICT (session, event_id) WHERE event_id IS NOT NULL DO NOTHING',
  )
  readonly #seqOf: Statement = query('SELECT seq FROM toolwright_entries WHERE session = ? AND event_id = ?')
  readonly #recordAt: Statement = query(
    'SELECT body FROM toolwright_entries WHERE session = ? AND seq = ? AND event_id IS NULL',
  )
  readonly #deleteAfter: Statement = command('DELETE FROM toolwright_entries WHERE session = ? AND seq > ?');

  /** Inserts entries after a sequence number; false when one of them was not inserted. */
  *insert(session: number, seq: number, encoded: readonly EncodedEntry[]): SqlWork<boolean> {
    const rows = encoded.map(({ eventId, body }, index) => [session, seq + index + 1, eventId ?? null, body])
    return (yield* this.#insert.insert(rows)) === rows.length
  }

  /** Inserts the entries whose events are new after a sequence number, and returns them. */
  *insertNew(owner: LogOwner, seq: number, encoded: readonly EncodedEntry[]): SqlWork<EncodedEntry[]> {
    const added: EncodedEntry[] = []
    for (const entry of encoded) {
      const next = seq + added.length
      if (yield* this.insert(owner.id, next, [entry])) added.push(entry)
      else yield* this.#checkRepeat(owner, next + 1, entry)
    }
    return added
  }

  /** Removes the entries of this transaction. */
  *deleteAfter(session: number, seq: number): SqlWork<void> {
    yield* changesOf(this.#deleteAfter, session, seq)
  }

  /** Throws unless an entry that was not inserted is a stored event: a foreign trigger can drop rows without an error. */
  *#checkRepeat(owner: LogOwner, seq: number, entry: EncodedEntry): SqlWork<void> {
    if (entry.eventId !== undefined && (yield* this.#seqOfEvent(owner.id, entry)) !== undefined) return
    throw new ToolwrightError(
      'STORAGE',
      `${describeEntry(owner, seq)} was not stored: the database dropped it without an error. Remove the triggers on the table toolwright_entries.`,
    )
  }

  /** The sequence number of the last event in a list of entries. */
  *seqOfLast(session: number, encoded: readonly EncodedEntry[]): SqlWork<number | undefined> {
    const last = encoded.findLast(({ eventId }) => eventId !== undefined)
    return last && (yield* this.#seqOfEvent(session, last))
  }

  /**
   * Detects an append that a client repeats because the reply was lost, and returns its sequence number. All events must
   * be stored; records have no ids and must be at the positions they would get.
   */
  *seqOfRepeat(owner: LogOwner, expectedSeq: number, encoded: readonly EncodedEntry[]): SqlWork<number | undefined> {
    if (!Number.isSafeInteger(expectedSeq)) return undefined
    let seq: number | undefined
    for (const [index, entry] of encoded.entries()) {
      const at = expectedSeq + index + 1
      if (entry.eventId === undefined) seq = yield* this.#seqOfRecord(owner, at, entry)
      else seq = yield* this.#seqOfEvent(owner.id, entry)
      if (seq === undefined) return undefined
    }
    return seq
  }

  *#seqOfEvent(session: number, { eventId }: EncodedEntry): SqlWork<number | undefined> {
    return (yield* rowOf(this.#seqOf, session, eventId ?? null))?.seq as number | undefined
  }

  *#seqOfRecord(owner: LogOwner, seq: number, { body }: EncodedEntry): SqlWork<number | undefined> {
    const stored = (yield* rowOf(this.#recordAt, owner.id, seq))?.body
    if (stored === undefined) return undefined
    const canonical = (text: unknown): string => canonicalJson(fromJson(text, describeEntry(owner, seq)))
    return canonical(stored) === canonical(body) ? seq : undefined
  }
}

/** Names an entry in an error. */
export function describeEntry({ session }: LogOwner, seq: number): string {
  return `Entry ${seq} of session "${session}"`
}
