// Copies a store from one database to another. It can be killed at any point and started again: what is in the target is compared,
// and nothing there is overwritten. The source is only read.
import { systemPorts } from '../../../core/base/ports.ts'
import type { RowOwner } from '../session-row.ts'
import { sessionTables } from '../session-tables.ts'
import type { SqlDatabase, SqlRow } from '../sql.ts'
import type { CopyFact } from './copy-fact.ts'
import { copyKeyed, type Databases } from './copy-keyed.ts'
import { copyOtherMemories } from './copy-memories.ts'
import { copySession, type Stores } from './copy-session.ts'
import { copySharedState } from './copy-shared-state.ts'
import { CREDENTIALS, OTHER_ARTIFACTS, OTHER_SCHEDULES, PINS } from './keyed-tables.ts'
import { SourceSessions } from './source-session.ts'

/**
 * How long the target protects a session that is being copied from those who remove unfinished copies. It is renewed with each piece.
 * After a kill, the next copy waits for its end.
 */
const LEASE_MS = 5_000

/** Copies a store, and tells what happens. What sessions need comes before them, so that they are whole when they become visible. */
export async function* copyStore(from: SqlDatabase, to: SqlDatabase): AsyncGenerator<CopyFact, void> {
  const databases = { from, to }
  yield* copyKeyed(databases, PINS)
  yield* copyKeyed(databases, CREDENTIALS)
  yield* copySharedState(databases)
  yield* copyKeyed(databases, OTHER_ARTIFACTS)
  yield* copyOtherMemories(databases)
  yield* copySessions(databases)
  yield* copyKeyed(databases, OTHER_SCHEDULES)
}

async function* copySessions({ from, to }: Databases): AsyncGenerator<CopyFact, void> {
  const stores = storesOf({ from, to })
  let last: SqlRow | undefined
  do {
    const after = Number(last?.id ?? 0)
    const rows = await from.read(() => stores.source.list(after))
    for (const row of rows) yield* copySession(stores, row as unknown as RowOwner) // its columns were selected
    last = rows.at(-1)
  } while (last)
}

function storesOf({ from, to }: Databases): Stores {
  const options = { now: systemPorts.now, leaseMs: LEASE_MS, logger: { warn: (): void => {} } } // no row is decoded
  return {
    from,
    to,
    source: new SourceSessions(from, sessionTables(from, options).leases),
    target: sessionTables(to, options),
  }
}
