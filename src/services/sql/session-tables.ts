import { CheckpointRows } from './checkpoint-rows.ts'
import { CopiedState } from './copied-state.ts'
import { DirectState, readsAtOnce } from './direct-state.ts'
import { SessionFinding } from './find-sessions.ts'
import { InboxRows } from './inbox-rows.ts'
import { LeaseRows } from './lease-rows.ts'
import { LogPages } from './log-pages.ts'
import { LogRows } from './log-rows.ts'
import { PendingRows } from './pending-rows.ts'
import { type DamageLogger, damageReporter } from './report-skipped-rows.ts'
import { SessionCounting } from './session-counts.ts'
import { SessionRows } from './session-rows.ts'
import type { SessionState } from './session-state.ts'
import type { SqlDatabase } from './sql.ts'
import { StateRows } from './state-rows.ts'
import { StateVersionRows } from './state-versions.ts'

/** The rules of each table that sessions are stored in. */
export interface SessionTables {
  /** The keys of sessions and the length of their logs. */
  readonly sessions: SessionRows
  /** The leases. */
  readonly leases: LeaseRows
  /** The entries of logs. */
  readonly log: LogRows
  /** Parts of logs. */
  readonly pages: LogPages
  /** The checkpoints of logs. */
  readonly checkpoints: CheckpointRows
  /** The rows of state. */
  readonly stateRows: StateRows
  /** State as sessions write and read it. */
  readonly state: SessionState
  /** The inbox items. */
  readonly inbox: InboxRows
  /** The pending requests. */
  readonly pending: PendingRows
  /** How many sessions are in which state. */
  readonly counting: SessionCounting
  /** Sessions of all users, with their states. */
  readonly finding: SessionFinding
}

/** What the tables of sessions depend on. */
export interface TableOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Length of a lease. */
  readonly leaseMs: number
  /** Receives reports of damaged rows. */
  readonly logger: DamageLogger
}

/** Makes the rules for a database. */
export function sessionTables(database: SqlDatabase, options: TableOptions): SessionTables {
  const reportDamage = damageReporter(options.logger)
  const stateRows = new StateRows()
  const leases = new LeaseRows(database, options)
  return {
    sessions: new SessionRows(database),
    leases,
    log: new LogRows(),
    pages: new LogPages(),
    checkpoints: new CheckpointRows(reportDamage),
    stateRows,
    state: readsAtOnce(database)
      ? new DirectState(stateRows, database)
      : new CopiedState(stateRows, new StateVersionRows(database.dialect)),
    inbox: new InboxRows(reportDamage),
    pending: new PendingRows(reportDamage),
    counting: new SessionCounting(database),
    finding: new SessionFinding(database, leases),
  }
}
