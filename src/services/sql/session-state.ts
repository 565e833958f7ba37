import type { StateReader } from '../session/service.ts'
import { CopiedState } from './copied-state.ts'
import type { SqlDatabase, SqlWork } from './sql.ts'
import { byScope, type StateChange } from './state-change.ts'
import type { StateUpdate, StateVersions } from './state-copy.ts'
import type { StateOwner, StateRows } from './state-rows.ts'

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
  /** Reads what has changed since the reader last heard of it. `take` the updates after the transaction. */
  refresh(owner: StateOwner, versions: StateVersions): SqlWork<readonly StateUpdate[]>
  /** Shows updates to the readers of this process. */
  take(updates: readonly StateUpdate[]): void
  /** Makes the reader of a holder. Refresh it in the transaction that reads the log. */
  reader(owner: StateOwner): StateReader
}

/** The state of sessions in a database: read at once if the database can, else from a copy. */
export function sessionState(database: SqlDatabase, rows: StateRows): SessionState {
  return readsAtOnce(database) ? new DirectState(rows, database) : new CopiedState(rows)
}

/** A database that reads at once. */
type DirectDatabase = Required<Pick<SqlDatabase, 'readNow'>>

function readsAtOnce(database: Pick<SqlDatabase, 'readNow'>): database is DirectDatabase {
  return database.readNow !== undefined
}

const NO_UPDATES: readonly StateUpdate[] = []

/** State that readers read in the database each time, so that they see the commits of all processes. */
class DirectState implements SessionState {
  readonly #rows: StateRows
  readonly #database: DirectDatabase

  constructor(rows: StateRows, database: DirectDatabase) {
    this.#rows = rows
    this.#database = database
  }

  *apply(owner: StateOwner, changes: readonly StateChange[]): SqlWork<readonly StateUpdate[]> {
    if (changes.length > 0) yield* this.#rows.apply(owner, byScope(changes))
    return NO_UPDATES
  }

  // biome-ignore lint/correctness/useYield: there is nothing to read
  *refresh(): SqlWork<readonly StateUpdate[]> {
    return NO_UPDATES
  }

  take(): void {}

  reader(owner: StateOwner): StateReader {
    return {
      get: (key) => this.#database.readNow(() => this.#rows.get(owner, key)),
      keys: () => this.#database.readNow(() => this.#rows.keys(owner)),
    }
  }
}
