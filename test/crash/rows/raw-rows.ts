// The rows of a session as the database has them, read with plain SQL: no code of the product comes between.
import type { JsonObject } from 'toolwright'

/** The rows of the only session of an app. */
export interface RawRows {
  /** The sequence number of the session's last entry. */
  readonly seq: number
  /** The log, in order. */
  readonly entries: readonly RawEntry[]
  /** Inbox items that no run has drained. */
  readonly inbox: readonly string[]
  /** Pending requests. */
  readonly pending: readonly JsonObject[]
  /** The state of the session, its user and the app, by key. */
  readonly state: ReadonlyMap<string, unknown>
}

/** An entry: an event if it has an id. */
export interface RawEntry {
  readonly seq: number
  readonly eventId: string | null
  readonly body: unknown
}

/** A database, as an operator opens it. */
export interface RawStore {
  /** Reads the rows of an app, or of one of its sessions. Throws unless there is one session. */
  rows(app: string, session?: string): Promise<RawRows>
  /** Ends the leases of an app, as time does when its processes are dead. */
  endLeases(app: string): Promise<void>
  /** What the database finds wrong with itself. */
  findDamage(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Runs a statement whose `?` are in order. */
export type Query = (
  sql: string,
  ...values: (string | number)[]
) => Promise<readonly { readonly [column: string]: unknown }[]>

/** Reads the rows of an app, or of one of its sessions. Both databases have the same tables. */
export async function readRows(query: Query, app: string, id?: string): Promise<RawRows> {
  const ofApp = 'SELECT id, seq FROM toolwright_sessions WHERE app = ?'
  const [session, ...others] =
    id === undefined ? await query(ofApp, app) : await query(`${ofApp} AND session = ?`, app, id)
  if (!session || others.length > 0) throw new Error(`App "${app}" has not one session${id ? ` "${id}"` : ''}.`)
  const ofSession = async (sql: string): Promise<readonly { readonly [column: string]: unknown }[]> =>
    await query(sql, Number(session.id))
  const entries = await ofSession('SELECT seq, event_id, body FROM toolwright_entries WHERE session = ? ORDER BY seq')
  const inbox = await ofSession('SELECT item_id FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL')
  const pending = await ofSession('SELECT body FROM toolwright_pending WHERE session = ?')
  const state = await query('SELECT key, value FROM toolwright_state WHERE app = ?', app)
  return {
    seq: Number(session.seq),
    entries: entries.map(({ seq, event_id: id, body }) => ({
      seq: Number(seq),
      eventId: id === null ? null : String(id),
      body: JSON.parse(String(body)),
    })),
    inbox: inbox.map(({ item_id: id }) => String(id)),
    pending: pending.map(({ body }) => JSON.parse(String(body)) as JsonObject),
    state: new Map(state.map(({ key, value }) => [String(key), JSON.parse(String(value))])),
  }
}
