// The rules of leases: one holder at a time, and an unfinished copy ends with its lease.
import type { Lease, SessionKey } from '../session/service.ts'
import { leaseLost, sessionBusy, sessionExists, sessionNotFound } from '../session/session-errors.ts'
import { versionsOf } from './append-rules.ts'
import { deleteRow } from './create-rules.ts'
import type { ClaimableRow } from './lease-rows.ts'
import { keyColumns, keyOf } from './session-row.ts'
import type { HeldLease } from './session-rows.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlWork } from './sql.ts'
import type { StateChange } from './state-change.ts'
import type { StateUpdate } from './state-copy.ts'

/** Claims a session; throws SESSION_BUSY or NOT_FOUND. */
export function* claim(tables: SessionTables, key: SessionKey): SqlWork<Lease> {
  const row = yield* tables.leases.lock(key)
  if (!row) throw sessionNotFound(key.sessionId)
  const lease = yield* claimRow(tables, row)
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
export function* renew({ leases, state }: SessionTables, lease: HeldLease): SqlWork<readonly StateUpdate[]> {
  const row = yield* leases.renew(lease)
  if (!row) throw leaseLost(lease.key.sessionId)
  const [app, user] = keyColumns(lease.key)
  return yield* state.refresh({ app, user, id: row.id }, versionsOf(row, row.seq))
}

/** Ends a lease. Deletes an unfinished copy. */
export function* release(
  tables: SessionTables,
  lease: HeldLease,
  options: { readonly interrupted?: boolean | undefined } = {},
): SqlWork<void> {
  const { leases, sessions } = tables
  if (yield* options.interrupted ? leases.interrupt(lease) : leases.release(lease)) return
  const copy = yield* sessions.lockHeldCopy(lease)
  if (copy) yield* deleteRow(tables, copy)
}

/** Whether a holder may wait for its write: no other process can claim its session yet. */
export function* isHeldAlive({ sessions, leases }: SessionTables, lease: HeldLease): SqlWork<boolean> {
  const row = yield* sessions.findHeld(lease)
  return row !== undefined && leases.isAlive(row)
}

function* claimRow({ leases }: Pick<SessionTables, 'leases'>, row: ClaimableRow): SqlWork<Lease | undefined> {
  const epoch = yield* leases.claim(row)
  return epoch === undefined ? undefined : { key: keyOf(row), epoch, seq: row.seq, leaseMs: leases.leaseMs }
}
