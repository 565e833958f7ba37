import type { StatementSync } from 'node:sqlite'
import { canonicalJson } from '../base/json.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Entry, Event, LogRecord } from '../event/event.ts'
import { findEventProblem, findRecordProblem } from '../session/validate-entry.ts'
import type { Database } from './database.ts'
import type { Line } from './line.ts'
import { damaged } from './storage-error.ts'
import { fromJson, toText } from './text.ts'

interface EntryRow {
  readonly seq: number
  readonly event_id: string | null
  readonly body: string
}

/** Whose log it is: the row of the session, and its id for messages. */
export interface LogOwner {
  readonly id: number
  readonly session: string
}

/** Entries as read, and how much text they were. */
export interface ReadEntries {
  readonly entries: Entry[]
  readonly size: number
}

/** The entries of all sessions, each session's numbered from 1 without gaps, each event id in it at most once. */
export class LogRows {
  readonly #insert: StatementSync
  readonly #after: StatementSync
  readonly #latest: StatementSync
  readonly #seqOf: StatementSync
  readonly #recordAt: StatementSync

  constructor(database: Database) {
    this.#insert = database.prepare(
      `INSERT INTO toolwright_entries (session, seq, event_id, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (session, event_id) WHERE event_id IS NOT NULL DO NOTHING`,
    )
    this.#after = database.prepare(
      'SELECT seq, event_id, body FROM toolwright_entries WHERE session = ? AND seq > ? ORDER BY seq',
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

  /** False when its event is there already. */
  insert(session: number, seq: number, { eventId, body }: Line): boolean {
    return this.#insert.run(session, seq, eventId ?? null, body).changes > 0
  }

  /** An entry that was not inserted must be a stored event: a trigger of another program can drop rows without an error. */
  checkRepeat(owner: LogOwner, seq: number, line: Line): void {
    if (line.eventId !== undefined && this.#seqOfEvent(owner.id, line) !== undefined) return
    throw new ToolwrightError(
      'STORAGE',
      `${nameOf(owner, seq)} was not stored: the database dropped it without an error. Remove the triggers on the table toolwright_entries.`,
    )
  }

  /** Where the last event of these is. */
  seqOfLast(session: number, lines: readonly Line[]): number | undefined {
    const last = lines.findLast(({ eventId }) => eventId !== undefined)
    return last && this.#seqOfEvent(session, last)
  }

  /**
   * Was this append made before, and its acknowledgement lost? Then the sequence number it gave: all its events are
   * known, and its records, which have no ids, stand where they would have been put.
   */
  seqOfRepeat(owner: LogOwner, expectedSeq: number, lines: readonly Line[]): number | undefined {
    let seq: number | undefined
    for (const [index, line] of lines.entries()) {
      const at = expectedSeq + index + 1
      seq = line.eventId === undefined ? this.#seqOfRecord(owner, at, line) : this.#seqOfEvent(owner.id, line)
      if (seq === undefined) return undefined
    }
    return seq
  }

  /** Entries after a sequence number, up to the last. */
  after(owner: LogOwner, fromSeq: number, lastSeq: number): ReadEntries {
    const rows = this.#after.all(owner.id, fromSeq) as unknown[] as EntryRow[]
    let size = 0
    const entries = rows.map((row, index) => {
      if (row.seq !== fromSeq + index + 1) throw damaged(nameOf(owner, fromSeq + index + 1), 'it is missing')
      size += row.body.length
      return toEntry(owner, row)
    })
    const readSeq = fromSeq + entries.length
    if (readSeq < lastSeq) throw damaged(nameOf(owner, readSeq + 1), 'it is missing')
    if (readSeq > lastSeq) throw damaged(nameOf(owner, lastSeq + 1), `the session has only ${lastSeq} entries`)
    return { entries, size }
  }

  /** The latest events, in their order; all without a number that says how many. */
  events(owner: LogOwner, atMost?: number): Event[] {
    const limit = atMost !== undefined && atMost < Number.MAX_SAFE_INTEGER ? Math.max(0, Math.ceil(atMost)) : -1
    const rows = this.#latest.all(owner.id, limit) as unknown[] as EntryRow[]
    return rows.reverse().map((row) => toEvent(owner, row))
  }

  #seqOfEvent(session: number, { eventId }: Line): number | undefined {
    return this.#seqOf.get(session, eventId ?? null)?.seq as number | undefined
  }

  #seqOfRecord(owner: LogOwner, seq: number, { body }: Line): number | undefined {
    const stored = this.#recordAt.get(owner.id, seq)?.body
    if (stored === undefined) return undefined
    const canonical = (text: unknown): string => canonicalJson(fromJson(text, nameOf(owner, seq)))
    return canonical(stored) === canonical(body) ? seq : undefined
  }
}

function toEntry(owner: LogOwner, row: EntryRow): Entry {
  const { seq } = row
  return row.event_id === null ? { seq, record: toRecord(owner, row) } : { seq, event: toEvent(owner, row) }
}

function toEvent(owner: LogOwner, { seq, event_id, body }: EntryRow): Event {
  const what = nameOf(owner, seq)
  const event = fromJson(body, what)
  const problem = findEventProblem(event)
  if (problem !== undefined) throw damaged(what, problem)
  const { id } = event as Event
  if (toText(id) !== event_id) throw damaged(what, 'its id is not the one it was stored under')
  return event as Event
}

function toRecord(owner: LogOwner, { seq, body }: EntryRow): LogRecord {
  const what = nameOf(owner, seq)
  const record = fromJson(body, what)
  const problem = findRecordProblem(record)
  if (problem !== undefined) throw damaged(what, problem)
  return record as LogRecord
}

function nameOf({ session }: LogOwner, seq: number): string {
  return `Entry ${seq} of session "${session}"`
}
