// The rules of retention: which sessions may be deleted, and that a run cannot start in one while it is.
import { DELETING } from '../session/lease.ts'
import { readPagePosition } from '../session/page.ts'
import type {
  IdleConditions,
  Lease,
  Page,
  PageOptions,
  PrunableSession,
  PruneFilter,
  SessionKey,
} from '../session/service.ts'
import { toText } from './escaped-text.ts'
import { claimRow } from './lease-rules.ts'
import { keyOf, type RowOwner } from './session-row.ts'
import { FREE } from './session-rows.ts'
import type { SessionTables } from './session-tables.ts'
import { query, rowOf, rowsOf, type SqlWork } from './sql.ts'

const COLUMNS = 'id, app, "user", session, updated_at'
/** Not in use: no holder, dead or alive, not set aside with unfinished work, and no items in the inbox. */
const IDLE = `id > ? AND epoch = ${FREE} AND set_aside IS NULL
  AND NOT EXISTS (SELECT 1 FROM toolwright_inbox AS items WHERE items.session = sessions.id AND items.body IS NOT NULL)
  AND (CAST(? AS BIGINT) = 1 OR NOT EXISTS (SELECT 1 FROM toolwright_pending AS requests WHERE requests.session = sessions.id))`
const UNCHANGED = query(
  `SELECT ${COLUMNS} FROM toolwright_sessions AS sessions WHERE ${IDLE} AND app = ? AND updated_at <= ? ORDER BY id LIMIT ?`,
)
const RANKED = `SELECT ${COLUMNS}, epoch, set_aside, row_number() OVER (PARTITION BY "user" ORDER BY updated_at DESC, id DESC) AS place
  FROM toolwright_sessions WHERE app = ?`
const UNCHANGED_OR_OVER = query(
  `WITH sessions AS (${RANKED})
   SELECT ${COLUMNS} FROM sessions WHERE ${IDLE} AND (updated_at <= ? OR place > ?) ORDER BY id LIMIT ?`,
)
const IN_USE = query(
  `SELECT (SELECT count(*) FROM toolwright_inbox WHERE session = ? AND body IS NOT NULL) AS items,
          (SELECT count(*) FROM toolwright_pending WHERE session = ?) AS requests`,
)

/** Before all times. */
const NEVER = -Number.MAX_SAFE_INTEGER

/** A part of the sessions that a retention rule selects. */
export function* findPrunable(filter: PruneFilter & PageOptions): SqlWork<Page<PrunableSession>> {
  const { unchangedSince = NEVER, maxSessionsPerUser, limit } = filter
  const after = readPagePosition(filter)
  const app = toText(filter.appName)
  const withPending = filter.withPending ? 1 : 0
  const rows =
    maxSessionsPerUser === undefined
      ? yield* rowsOf(UNCHANGED, after, withPending, app, unchangedSince, limit + 1)
      : yield* rowsOf(UNCHANGED_OR_OVER, app, after, withPending, unchangedSince, maxSessionsPerUser, limit + 1)
  const items = rows.slice(0, limit).map((row) => {
    return { ...keyOf(row as unknown as RowOwner), updatedAt: Number(row.updated_at) }
  })
  return rows.length > limit ? { items, next: String(rows[limit - 1]?.id) } : { items }
}

/** Claims a session to delete it; undefined if it is in use. */
export function* claimIdle(
  tables: SessionTables,
  key: SessionKey,
  { unchangedSince, withPending }: IdleConditions,
): SqlWork<Lease | undefined> {
  const row = yield* tables.leases.lock(key)
  if (!row || row.epoch !== FREE || row.set_aside !== null || row.updated_at > unchangedSince) return undefined
  const used = yield* rowOf(IN_USE, row.id, row.id)
  if (Number(used?.items) > 0 || (!withPending && Number(used?.requests) > 0)) return undefined
  return yield* claimRow(tables, row, { takeOver: DELETING })
}
