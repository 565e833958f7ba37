// Reads the logs of a SQLite file, one session after another. Changes nothing.
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../core/error/error.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import { UsageError } from '../terminal.ts'

/** The log of a session. */
export interface StoredLog {
  /** The user. */
  readonly userId: string
  /** The entries, in order. They can be read once. */
  readonly entries: Iterable<NewEntry>
}

/** Copies that are not complete yet have such a name, and no app has. */
const SESSIONS = `SELECT id, user FROM toolwright_sessions WHERE app NOT LIKE '"%' AND updated_at >= ? ORDER BY id`
const ENTRIES = 'SELECT event_id, body FROM toolwright_entries WHERE session = ? ORDER BY seq'

/** Calls `add` with the log of each session that has changed since a time, in milliseconds since the epoch, in one snapshot. */
export function readLogs(file: string, sinceMs: number, add: (log: StoredLog) => void): void {
  if (!existsSync(file)) throw new UsageError(`"${file}" does not exist. Pass the SQLite file of a store.`)
  const connection = new DatabaseSync(file, { readOnly: true })
  try {
    connection.exec('BEGIN')
    const entries = connection.prepare(ENTRIES)
    for (const { id, user } of connection.prepare(SESSIONS).all(sinceMs))
      add({ userId: toId(user), entries: toEntries(entries.iterate(Number(id))) })
  } catch (error) {
    throw new Error(`"${file}" cannot be read as a store of toolwright: ${messageOf(error)}`, { cause: error })
  } finally {
    connection.close()
  }
}

function* toEntries(rows: Iterable<Record<string, unknown>>): Generator<NewEntry> {
  for (const { event_id: eventId, body } of rows) {
    const value: unknown = JSON.parse(String(body))
    yield (eventId === null ? { record: value } : { event: value }) as NewEntry // the store checked the entry when it was appended
  }
}

/** Ids are stored with JSON escapes. */
function toId(text: unknown): string {
  return JSON.parse(`"${String(text)}"`)
}
