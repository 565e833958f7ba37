import type { ToolwrightError } from '../../core/error/error.ts'
import type { Entry, Event, LogRecord } from '../../core/event/event.ts'
import { findEventProblem, findRecordProblem } from '../session/storable-entry.ts'
import { damaged } from './damaged.ts'
import { fromJson, toText } from './escaped-text.ts'
import { describeEntry, type LogOwner } from './log-rows.ts'
import { countRowsWithin } from './rows-within.ts'
import { ALL_ROWS, query, rowsOf, type SqlWork, type Statement } from './sql.ts'

interface EntryRow {
  readonly seq: number
  readonly event_id: string | null
  readonly body: string
}

/** Entries read from the database. */
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
  /** The most entries. */
  readonly limit?: number | undefined
  /** The entry that reaches this many bytes is the last one. */
  readonly maxBytes?: number | undefined
}

/** Parts of the logs of all sessions. */
export class LogPages {
  readonly #after: Statement = query(
    'SELECT seq, event_id, body FROM toolwright_entries WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?',
  )
  readonly #sizes: Statement = query(
    'SELECT octet_length(body) AS bytes FROM toolwright_entries WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?',
  )
  readonly #latest: Statement = query(
    `SELECT seq, event_id, body FROM toolwright_entries WHERE session = ? AND event_id IS NOT NULL
     ORDER BY seq DESC LIMIT ?`,
  );

  /** Reads the entries after a sequence number, all or up to the one that reaches `maxBytes`; throws STORAGE when one is missing. */
  *piece(owner: LogOwner & { readonly seq: number }, fromSeq: number, maxBytes?: number): SqlWork<ReadEntries> {
    const read = yield* this.page(owner, fromSeq, { maxBytes })
    const readSeq = fromSeq + read.entries.length
    if (readSeq < owner.seq && readSeq === fromSeq) throw missingEntry(owner, readSeq + 1)
    if (readSeq > owner.seq)
      throw damaged(describeEntry(owner, owner.seq + 1), `the session has only ${owner.seq} entries`)
    return read
  }

  /**
   * Reads at most `limit` entries after a sequence number, and none after the one that reaches `maxBytes`. Throws STORAGE when
   * one between them is missing.
   */
  *page(owner: LogOwner, fromSeq: number, { limit = ALL_ROWS, maxBytes }: PageLimits = {}): SqlWork<ReadEntries> {
    const count = maxBytes === undefined ? limit : yield* this.#countWithin(owner.id, fromSeq, { limit, maxBytes })
    const rows = (yield* rowsOf(this.#after, owner.id, fromSeq, count)) as unknown[] as EntryRow[]
    let size = 0
    const entries = rows.map((row, index) => {
      if (row.seq !== fromSeq + index + 1) throw missingEntry(owner, fromSeq + index + 1)
      size += row.body.length
      return toEntry(owner, row)
    })
    return { entries, size }
  }

  /** Are there many bytes after a sequence number? Bodies are not read. */
  *isLong(session: number, fromSeq: number): SqlWork<boolean> {
    const rows = yield* rowsOf(this.#sizes, session, fromSeq, MAX_PIECE_ROWS)
    let bytes = 0
    for (const row of rows) bytes += Number(row.bytes)
    return bytes > LONG_BYTES || rows.length === MAX_PIECE_ROWS
  }

  /** How many entries a page of at most `maxBytes` has. Bodies are not read. */
  *#countWithin(
    session: number,
    fromSeq: number,
    { limit, maxBytes }: { limit: number; maxBytes: number },
  ): SqlWork<number> {
    const most = Math.min(limit, MAX_PIECE_ROWS)
    return countRowsWithin(yield* rowsOf(this.#sizes, session, fromSeq, most), maxBytes)
  }

  /** Reads the latest `atMost` events in log order; default: all events. */
  *events(owner: LogOwner, atMost?: number): SqlWork<Event[]> {
    const limit = atMost !== undefined && atMost < ALL_ROWS ? Math.max(0, Math.ceil(atMost)) : ALL_ROWS
    const rows = (yield* rowsOf(this.#latest, owner.id, limit)) as unknown[] as EntryRow[]
    return rows.toReversed().map((row) => toEvent(owner, row))
  }
}

/** The error for an entry that should be in the log. */
export function missingEntry(owner: LogOwner, seq: number): ToolwrightError {
  return damaged(describeEntry(owner, seq), 'it is missing')
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
