// The rules of leases: one holder at a time, and an unfinished copy ends with its lease.
import type { ClaimOptions, Lease, ReleaseOptions, SessionKey } from '../session/service.ts'
import { sessionBusy, sessionExists, sessionNotFound } from '../session/session-errors.ts'
import { versionsOf } from './append-rules.ts'
import { deleteRow } from './create-rules.ts'
import type { ClaimableRow } from './lease-rows.ts'
import { refusedLease } from './refused-lease.ts'
import { keyColumns, keyOf } from './session-row.ts'
import type { HeldLease } from './session-rows.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlWork } from './sql.ts'
import type { StateChange } from './state-change.ts'
import type { StateUpdate } from './state-copy.ts'

/** Claims a session; throws SESSION_BUSY or NOT_FOUND. */
export function* claim(tables: SessionTables, key: SessionKey, options?: ClaimOptions): SqlWork<Lease> {
  const row = yield* tables.leases.lock(key)
  if (!row) throw sessionNotFound(key.sessionId)
  const lease = yield* claimRow(tables, row, options)
  if (!lease) throw sessionBusy(key.sessionId)
  return lease
}

/** Starts a copy of another session, and claims it; throws ALREADY_EXISTS. */
export function* createCopy(
  { sessions, leases, state }: SessionTables,
  key: SessionKey,
  changes: readonly StateChange[],
  now: number,
): SqlWork<{ readonly lease: Lease; readonly updates: readonly StateUpdate[] }> {
  if ((yield* sessions.find(key)) || !(yield* sessions.insertCopy(key, now))) throw sessionExists(key.sessionId)
  const row = (yield* leases.lockCopy(key)) as ClaimableRow // inserted above
  const updates = yield* state.apply(row, changes, { from: 0, versions: versionsOf(row, 0) })
  return { lease: (yield* claimRow({ leases }, row)) as Lease, updates } // free: inserted above
}

/** Claims the unfinished copies whose holder died. */
export function* claimDeadCopies(tables: SessionTables, appName: string): SqlWork<Lease[]> {
  const claimed: Lease[] = []
  for (const row of yield* tables.leases.lockDeadCopies(appName)) {
    const lease = yield* claimRow(tables, row)
    if (lease) claimed.push(lease)
  }
  return claimed
}

/** Extends a lease; throws LEASE_LOST. */
export function* renew({ sessions, leases, state }: SessionTables, lease: HeldLease): SqlWork<readonly StateUpdate[]> {
  const row = yield* leases.renew(lease)
  if (!row) throw yield* refusedLease({ sessions }, lease.key)
  const [app, user] = keyColumns(lease.key)
  return yield* state.refresh({ app, user, id: row.id }, versionsOf(row, row.seq))
}

/** Ends a lease. Deletes an unfinished copy. */
export function* release(
  tables: SessionTables,
  lease: HeldLease,
  { interrupted = false, setAside }: ReleaseOptions = {},
): SqlWork<void> {
  const { leases, sessions } = tables
  const ending = interrupted ? leases.interrupt(lease) : leases.release(lease)
  if (yield* setAside === undefined ? ending : leases.setAside(lease, setAside)) return
  const copy = yield* sessions.lockHeldCopy(lease)
  if (copy) yield* deleteRow(tables, copy)
}

/** Whether a holder may wait for its write: no other process can claim its session yet. */
export function* isHeldAlive({ sessions, leases }: SessionTables, lease: HeldLease): SqlWork<boolean> {
  const row = yield* sessions.findHeld(lease)
  return row !== undefined && leases.isAlive(row)
}

/** Claims a session or a copy; undefined while another lease is alive. */
export function* claimRow(
  { leases }: Pick<SessionTables, 'leases'>,
  row: ClaimableRow,
  options?: ClaimOptions,
): SqlWork<Lease | undefined> {
  const claimed = yield* leases.claim(row, options)
  return claimed && { key: keyOf(row), seq: row.seq, leaseMs: leases.leaseMs, ...claimed }
}
