import type { SessionKey } from '../session/service.ts'
import { damaged } from './damaged.ts'
import { fromText, toText } from './escaped-text.ts'
import type { SqlRow } from './sql.ts'

/** The row of a session. */
export interface SessionRow {
  /** Row id, never reused. */
  readonly id: number
  /** App name, encoded. */
  readonly app: string
  /** User id, encoded. */
  readonly user: string
  /** Session id, encoded. */
  readonly session: string
  /** Sequence number of the last entry. */
  readonly seq: number
  /** Epoch of the holder; 0 without a holder. */
  readonly epoch: number
  /** End of the lease in milliseconds since 1970, for processes with schema version 1 of SQLite. */
  readonly expires_at: number
  /** Time of the last append in milliseconds since 1970. */
  readonly updated_at: number
  /** The epoch that `lease_until` and `lease_ms` belong to. */
  readonly lease_epoch: number
  /** End of the lease on the clock of leases. */
  readonly lease_until: number
  /** Length of the lease. */
  readonly lease_ms: number
  /** The scheduler that the latest lease was claimed for. */
  readonly holder: string | null
  /** How many holders in a row have lost the session. */
  readonly crashes: number
  /** Why no worker continues the session by itself, encoded. */
  readonly set_aside: string | null
  /** What the clock of leases shows, in milliseconds. */
  readonly lease_now: number
  /** The version of the app's state; only in databases that do not read at once. */
  readonly app_version?: number
  /** The version of the user's state. */
  readonly user_version?: number
}

/** A session after entries were appended: `seq` is the sequence number before them. */
export type ExtendedRow = RowOwner & Pick<SessionRow, 'seq' | 'app_version' | 'user_version'>

/** A new session. */
export type InsertedRow = RowOwner & UpdatedRow & Pick<SessionRow, 'updated_at'>

/** What an update returns of the row of a session. */
export type UpdatedRow = Pick<SessionRow, 'id' | 'app_version' | 'user_version'>

/** A session as columns: what its log and its state belong to. */
export type RowOwner = Pick<SessionRow, 'id' | 'app' | 'user' | 'session'>

/** The key of a session as columns. */
export type KeyColumns = readonly [app: string, user: string, session: string]

/** The columns of a session that are stored. */
export const STORED_COLUMNS =
  'id, app, "user", session, seq, epoch, expires_at, updated_at, lease_epoch, lease_until, lease_ms, holder, crashes, set_aside'

/** Finds a session by its key. */
export const OF_KEY = 'app = ? AND "user" = ? AND session = ?'

/**
 * Stands before the app name of an unfinished copy, so that no search for sessions finds it: not in this version, and not in a
 * process of an earlier version that has the file open. An encoded app name never starts with a quotation mark.
 */
const COPY = '"unfinished copy" '

/** Leaves out unfinished copies, of all apps. */
export const NOT_A_COPY = `app NOT LIKE '"%'`

/** The key of a session. */
export function keyColumns({ appName, userId, sessionId }: SessionKey): KeyColumns {
  return [toText(appName), toText(userId), toText(sessionId)]
}

/** The key of an unfinished copy. */
export function copyColumns({ appName, userId, sessionId }: SessionKey): KeyColumns {
  return [copiesOf(appName), toText(userId), toText(sessionId)]
}

/** The app column of the unfinished copies of an app. */
export function copiesOf(appName: string): string {
  return COPY + toText(appName)
}

/** Decodes the key of a session. */
export function keyOf({ app, user, session }: RowOwner): SessionKey {
  const what = 'The id of a session'
  return { appName: fromText(app, what), userId: fromText(user, what), sessionId: fromText(session, what) }
}

/** Throws STORAGE for values that have the declared type but are impossible. */
export function checkRow(given: SqlRow): SessionRow {
  const row = given as unknown as SessionRow // the columns have types in both databases
  const { seq, epoch, updated_at } = row
  const isSound = Number.isSafeInteger(seq) && seq >= 0 && Number.isSafeInteger(epoch) && epoch >= 0
  if (isSound && Number.isFinite(updated_at)) return row
  throw damaged(`The row of session "${String(row.session)}"`)
}

/** The row of a copy with the app name it will have. */
export function ofCopy(row: SessionRow): SessionRow {
  return { ...row, app: row.app.slice(COPY.length) }
}
