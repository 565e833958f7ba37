import type { StatementSync } from 'node:sqlite'
import { canonicalJson } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Entry, Event, LogRecord } from '../../core/event/event.ts'
import { findEventProblem, findRecordProblem } from '../../services/session/storable-entry.ts'
import type { Database } from './database.ts'
import type { EncodedEntry } from './entry-encoding.ts'
import { fromJson, toText } from './escaped-text.ts'
import { countRowsWithin } from './rows-within.ts'
import { damaged } from './storage-error.ts'

interface EntryRow {
  readonly seq: number
  readonly event_id: string | null
  readonly body: string
}

/** The session a log belongs to. */
export interface LogOwner {
  /** Row id of the session. */
  readonly id: number
  /** Session id, for error messages. */
  readonly session: string
}

/** Entries read from the file. */
interface ReadEntries {
  /** The entries in order. */
  readonly entries: Entry[]
  /** Their length as JSON. */
  readonly size: number
}

/** The most entries that are read at a time if bytes are counted. */
const MAX_PIECE_ROWS = 1_000

/** A log with more bytes to read is long: reading it blocks the event loop for some milliseconds. */
const LONG_BYTES = 200_000

/** How much of a log to read. */
interface PageLimits {
  /** The most entries; -1 for all. */
  readonly limit?: number | undefined
  /** The entry that reaches this many bytes is the last one. */
  readonly maxBytes?: number | undefined
}

/** The log entries of all sessions. Sequence numbers of a session start at 1 without gaps; event ids are unique in it. */
export class LogRows {
  readonly #insert: StatementSync
  readonly #after: StatementSync
  readonly #sizes: StatementSync
  readonly #latest: StatementSync
  readonly #seqOf: StatementSync
  readonly #recordAt: StatementSync

  constructor(database: Database) {
    this.#insert = database.prepare(
      `INSERT INTO toolwright_entries (session, seq, event_id, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (session, event_id) WHERE event_id IS NOT NULL DO NOTHING`,
    )
    this.#after = database.prepare(
      'SELECT seq, event_id, body FROM toolwright_entries WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?',
    )
    this.#sizes = database.prepare(
      `SELECT octet_length(body) AS bytes FROM toolwright_entries WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`,
    )
    this.#latest = database.prepare(
      `SELECT seq, event_id, body FROM toolwright_entries WHERE session = ? AND event_id IS NOT NULL
       ORDER BY seq DESC LIMIT ?`,
    )
    this.#seqOf = database.prepare('SELECT seq FROM toolwright_entries WHERE session = ? AND event_id = ?')
    this.#recordAt = database.prepare(
      'SELECT body FROM toolwright_entries WHERE session = ? AND seq = ? AND event_id IS NULL',
    )
  }

  /** Inserts an entry; false when its event id is already stored. */
  insert(session: number, seq: number, { eventId, body }: EncodedEntry): boolean {
    return this.#insert.run(session, seq, eventId ?? null, body).changes > 0
  }

  /** Throws unless an entry that was not inserted is a stored event: a foreign trigger can drop rows without an error. */
  checkRepeat(owner: LogOwner, seq: number, entry: EncodedEntry): void {
    if (entry.eventId !== undefined && this.#seqOfEvent(owner.id, entry) !== undefined) return
    throw new ToolwrightError(
      'STORAGE',
      `${describeEntry(owner, seq)} was not stored: the database dropped it without an error. Remove the triggers on the table toolwright_entries.`,
    )
  }

  /** The sequence number of the last event in a list of entries. */
  seqOfLast(session: number, encoded: readonly EncodedEntry[]): number | undefined {
    const last = encoded.findLast(({ eventId }) => eventId !== undefined)
    return last && this.#seqOfEvent(session, last)
  }

  /**
   * Detects an append that a client repeats because the reply was lost, and returns its sequence number. All events must
   * be stored; records have no ids and must be at the positions they would get.
   */
  seqOfRepeat(owner: LogOwner, expectedSeq: number, encoded: readonly EncodedEntry[]): number | undefined {
    let seq: number | undefined
    for (const [index, entry] of encoded.entries()) {
      const at = expectedSeq + index + 1
      seq = entry.eventId === undefined ? this.#seqOfRecord(owner, at, entry) : this.#seqOfEvent(owner.id, entry)
      if (seq === undefined) return undefined
    }
    return seq
  }

  /** Reads the entries after a sequence number, up to the one that reaches `maxBytes`; throws STORAGE when one is missing. */
  piece(owner: LogOwner & { readonly seq: number }, fromSeq: number, maxBytes: number): ReadEntries {
    const read = this.page(owner, fromSeq, { maxBytes })
    const readSeq = fromSeq + read.entries.length
    if (readSeq < owner.seq && readSeq === fromSeq) throw damaged(describeEntry(owner, readSeq + 1), 'it is missing')
    if (readSeq > owner.seq)
      throw damaged(describeEntry(owner, owner.seq + 1), `the session has only ${owner.seq} entries`)
    return read
  }

  /**
   * Reads at most `limit` entries after a sequence number, and none after the one that reaches `maxBytes`. Throws STORAGE when
   * one between them is missing.
   */
  page(owner: LogOwner, fromSeq: number, { limit = -1, maxBytes }: PageLimits = {}): ReadEntries {
    const count = maxBytes === undefined ? limit : this.#countWithin(owner.id, fromSeq, { limit, maxBytes })
    const rows = this.#after.all(owner.id, fromSeq, count) as unknown[] as EntryRow[]
    let size = 0
    const entries = rows.map((row, index) => {
      if (row.seq !== fromSeq + index + 1) throw damaged(describeEntry(owner, fromSeq + index + 1), 'it is missing')
      size += row.body.length
      return toEntry(owner, row)
    })
    return { entries, size }
  }

  /** Are there many bytes after a sequence number? Bodies are not read. */
  isLong(session: number, fromSeq: number): boolean {
    const rows = this.#sizes.all(session, fromSeq, MAX_PIECE_ROWS)
    let bytes = 0
    for (const row of rows) bytes += Number(row.bytes)
    return bytes > LONG_BYTES || rows.length === MAX_PIECE_ROWS
  }

  /** How many entries a page of at most `maxBytes` has. Bodies are not read. */
  #countWithin(session: number, fromSeq: number, { limit, maxBytes }: { limit: number; maxBytes: number }): number {
    const most = limit < 0 ? MAX_PIECE_ROWS : Math.min(limit, MAX_PIECE_ROWS)
    return countRowsWithin(this.#sizes.all(session, fromSeq, most), maxBytes)
  }

  /** Reads the latest `atMost` events in log order; default: all events. */
  events(owner: LogOwner, atMost?: number): Event[] {
    const limit = atMost !== undefined && atMost < Number.MAX_SAFE_INTEGER ? Math.max(0, Math.ceil(atMost)) : -1
    const rows = this.#latest.all(owner.id, limit) as unknown[] as EntryRow[]
    return rows.reverse().map((row) => toEvent(owner, row))
  }

  #seqOfEvent(session: number, { eventId }: EncodedEntry): number | undefined {
    return this.#seqOf.get(session, eventId ?? null)?.seq as number | undefined
  }

  #seqOfRecord(owner: LogOwner, seq: number, { body }: EncodedEntry): number | undefined {
    const stored = this.#recordAt.get(owner.id, seq)?.body
    if (stored === undefined) return undefined
    const canonical = (text: unknown): string => canonicalJson(fromJson(text, describeEntry(owner, seq)))
    return canonical(stored) === canonical(body) ? seq : undefined
  }
}

function toEntry(owner: LogOwner, row: EntryRow): Entry {
  const { seq } = row
  return row.event_id === null ? { seq, record: toRecord(owner, row) } : { seq, event: toEvent(owner, row) }
}

function toEvent(owner: LogOwner, { seq, event_id, body }: EntryRow): Event {
  const what = describeEntry(owner, seq)
  const event = fromJson(body, what)
  const problem = findEventProblem(event)
  if (problem !== undefined) throw damaged(what, problem)
  const { id } = event as Event
  if (toText(id) !== event_id) throw damaged(what, 'its id is not the one it was stored under')
  return event as Event
}

function toRecord(owner: LogOwner, { seq, body }: EntryRow): LogRecord {
  const what = describeEntry(owner, seq)
  const record = fromJson(body, what)
  const problem = findRecordProblem(record)
  if (problem !== undefined) throw damaged(what, problem)
  return record as LogRecord
}

function describeEntry({ session }: LogOwner, seq: number): string {
  return `Entry ${seq} of session "${session}"`
}
