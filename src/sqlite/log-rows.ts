import type { StatementSync } from 'node:sqlite'
import { canonicalJson, isRecord } from '../base/json.ts'
import type { Entry, Event, LogRecord } from '../event/event.ts'
import type { Database } from './database.ts'
import type { Line } from './line.ts'
import { damaged } from './storage-error.ts'
import { fromJson } from './text.ts'

interface EntryRow {
  readonly seq: number
  readonly event_id: string | null
  readonly body: string
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

  /** Where the last event of these is. */
  seqOfLast(session: number, lines: readonly Line[]): number | undefined {
    const last = lines.findLast(({ eventId }) => eventId !== undefined)
    return last && this.#seqOfEvent(session, last)
  }

  /**
   * Was this append made before, and its acknowledgement lost? Then the sequence number it gave: all its events are
   * known, and its records, which have no ids, stand where they would have been put.
   */
  seqOfRepeat(session: number, expectedSeq: number, lines: readonly Line[]): number | undefined {
    let seq: number | undefined
    for (const [index, line] of lines.entries()) {
      const at = expectedSeq + index + 1
      seq = line.eventId === undefined ? this.#seqOfRecord(session, at, line) : this.#seqOfEvent(session, line)
      if (seq === undefined) return undefined
    }
    return seq
  }

  /** Entries after a sequence number, up to the last. */
  after(session: number, fromSeq: number, lastSeq: number): ReadEntries {
    const rows = this.#after.all(session, fromSeq) as unknown[] as EntryRow[]
    let size = 0
    const entries = rows.map((row, index) => {
      if (row.seq !== fromSeq + index + 1) throw damaged(`Entry ${fromSeq + index + 1} of a session`)
      size += row.body.length
      return toEntry(row)
    })
    if (fromSeq + entries.length !== lastSeq) throw damaged(`Entry ${lastSeq} of a session`)
    return { entries, size }
  }

  /** The latest events, in their order; all without a number that says how many. */
  events(session: number, atMost?: number): Event[] {
    const limit = atMost !== undefined && atMost < Number.MAX_SAFE_INTEGER ? Math.max(0, Math.ceil(atMost)) : -1
    const rows = this.#latest.all(session, limit) as unknown[] as EntryRow[]
    return rows.reverse().map(toEvent)
  }

  #seqOfEvent(session: number, { eventId }: Line): number | undefined {
    return this.#seqOf.get(session, eventId ?? null)?.seq as number | undefined
  }

  #seqOfRecord(session: number, seq: number, { body }: Line): number | undefined {
    const stored = this.#recordAt.get(session, seq)?.body
    if (stored === undefined) return undefined
    const canonical = (text: unknown): string => canonicalJson(fromJson(text, `Entry ${seq} of a session`))
    return canonical(stored) === canonical(body) ? seq : undefined
  }
}

function toEntry(row: EntryRow): Entry {
  return row.event_id === null ? { seq: row.seq, record: toRecord(row) } : { seq: row.seq, event: toEvent(row) }
}

function toEvent({ seq, body }: EntryRow): Event {
  const event = fromJson(body, `Entry ${seq} of a session`)
  // what every reader relies on; the rest is optional
  const isSound =
    isRecord(event) && typeof event.id === 'string' && typeof event.author === 'string' && isRecord(event.actions)
  if (isSound && isContent(event.content)) return event as unknown as Event
  throw damaged(`Entry ${seq} of a session`)
}

function isContent(content: unknown): boolean {
  if (content === undefined) return true
  return isRecord(content) && Array.isArray(content.parts) && content.parts.every(isRecord)
}

function toRecord({ seq, body }: EntryRow): LogRecord {
  const record = fromJson(body, `Entry ${seq} of a session`)
  if (isLogRecord(record)) return record
  throw damaged(`Entry ${seq} of a session`)
}

/** One that is not understood may be the one that says a body has begun. */
function isLogRecord(record: unknown): record is LogRecord {
  if (!isRecord(record) || typeof record.invocationId !== 'string') return false
  if (record.type === 'intent') return Array.isArray(record.calls) && record.calls.every(isRecord)
  if (record.type === 'request') return typeof record.id === 'string' && typeof record.callId === 'string'
  return record.type === 'denial' && typeof record.requestId === 'string'
}
