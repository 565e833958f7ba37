import type { StateReader } from '../session/service.ts'
import type { SessionState } from './session-state.ts'
import type { SqlDatabase, SqlWork } from './sql.ts'
import { byScope, type StateChange } from './state-change.ts'
import type { StateUpdate } from './state-copy.ts'
import type { StateOwner, StateRows } from './state-rows.ts'

/** A database that reads at once. */
type DirectDatabase = Required<Pick<SqlDatabase, 'readNow'>>

/** Whether a database reads at once. */
export function readsAtOnce(database: Pick<SqlDatabase, 'readNow'>): database is DirectDatabase {
  return database.readNow !== undefined
}

const NO_UPDATES: readonly StateUpdate[] = []

/** State that readers read in the database each time, so that they see the commits of all processes. */
export class DirectState implements SessionState {
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

  *deleteUser(owner: StateOwner): SqlWork<readonly StateUpdate[]> {
    yield* this.#rows.deleteUserState(owner)
    return NO_UPDATES
  }

  // biome-ignore lint/correctness/useYield: there is nothing to read
  *refresh(): SqlWork<readonly StateUpdate[]> {
    return NO_UPDATES
  }

  take(): void {
    // readers read the database
  }

  reader(owner: StateOwner): StateReader {
    return {
      get: (key) => this.#database.readNow(() => this.#rows.get(owner, key)),
      keys: () => this.#database.readNow(() => this.#rows.keys(owner)),
    }
  }
}
