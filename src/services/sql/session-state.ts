import type { StateReader } from '../session/service.ts'
import type { SqlWork } from './sql.ts'
import type { StateChange } from './state-change.ts'
import type { StateUpdate, StateVersions } from './state-copy.ts'
import type { StateOwner } from './state-rows.ts'

/** What a transaction does to the log of a session whose state it changes. */
export interface LogStep {
  /** The last sequence number before. */
  readonly from: number
  /** The versions of the state: that of the session is the last sequence number after. */
  readonly versions: StateVersions
}

/** How state is written, and how the holder of a session reads it. */
export interface SessionState {
  /** Applies changes in a transaction. `take` the updates after its commit. */
  apply(owner: StateOwner, changes: readonly StateChange[], log: LogStep): SqlWork<readonly StateUpdate[]>
  /** Deletes the `user:` state of a user in a transaction. `take` the updates after its commit. */
  deleteUser(owner: StateOwner): SqlWork<readonly StateUpdate[]>
  /** Reads what has changed since the reader last heard of it. `take` the updates after the transaction. */
  refresh(owner: StateOwner, versions: StateVersions): SqlWork<readonly StateUpdate[]>
  /** Shows updates to the readers of this process. */
  take(updates: readonly StateUpdate[]): void
  /** Makes the reader of a holder. Refresh it in the transaction that reads the log. */
  reader(owner: StateOwner): StateReader
}
