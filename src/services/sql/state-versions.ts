// The versions of shared state, which tell holders with a copy of it when to read it again. No version of a user is given twice, also
// not to a user who is deleted and created again: the copy of a process may outlive the user.
import {
  changesOf,
  command,
  type Dialect,
  query,
  rowOf,
  type SqlDatabase,
  type SqlWork,
  type Statement,
} from './sql.ts'

/** No row, no id of a deleted user: a version that is higher than all that deleted users had. */
const FLOOR = "(SELECT value FROM toolwright_meta WHERE name = 'state_floor')"

const VERSION = `SELECT version FROM toolwright_state_versions AS versions WHERE versions.app = toolwright_sessions.app`

/** The versions of shared state that the row of a session is selected with. */
const COLUMNS = `,
  coalesce((${VERSION} AND versions."user" = ''), ${FLOOR}) AS app_version,
  coalesce((${VERSION} AND versions."user" = toolwright_sessions."user"), ${FLOOR}) AS user_version`

/** Selects the versions of shared state where holders read a copy of it. */
export function versionColumns(database: Pick<SqlDatabase, 'readNow'>): string {
  return database.readNow ? '' : COLUMNS
}

/** The versions of the state of apps (no user) and users. */
export class StateVersionRows {
  readonly #advance: Statement = query(
    `UPDATE toolwright_state_versions SET version = version + 1 WHERE app = ? AND "user" = ? RETURNING version`,
  )
  readonly #keepFloor: Statement
  readonly #begin: Statement = query(
    `INSERT INTO toolwright_state_versions AS known (app, "user", version) VALUES (?, ?, ${FLOOR} + 1)
     ON CONFLICT (app, "user") DO UPDATE SET version = known.version + 1 RETURNING version`,
  )
  readonly #lockFloor: Statement = query(
    "UPDATE toolwright_meta SET value = value WHERE name = 'state_floor' RETURNING value",
  )
  readonly #remove: Statement = query(
    'DELETE FROM toolwright_state_versions WHERE app = ? AND "user" = ? RETURNING version',
  )
  readonly #raiseFloor: Statement = command("UPDATE toolwright_meta SET value = ? WHERE name = 'state_floor'")

  constructor({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
    this.#keepFloor = query(
      `SELECT value FROM toolwright_meta WHERE name = 'state_floor'${forUpdate === '' ? '' : ' FOR SHARE'}`,
    )
  }

  /**
   * Says that the state of an app (no user) or a user changes, and returns its new version. It comes first, so that writers of shared
   * state follow each other.
   */
  *advance(app: string, user: string): SqlWork<number> {
    const known = yield* rowOf(this.#advance, app, user)
    if (known) return Number(known.version)
    // the first change, or the first one after a deletion, whose floor must be known: no deletion from here to the commit
    yield* rowOf(this.#keepFloor)
    return Number((yield* rowOf(this.#begin, app, user))?.version)
  }

  /** Removes the version of a user whose state is deleted in the same transaction. Returns the version of a user without one. */
  *remove(app: string, user: string): SqlWork<number> {
    const floor = Number((yield* rowOf(this.#lockFloor))?.value) // waits for users who get their first version
    const removed = yield* rowOf(this.#remove, app, user)
    const next = Number(removed?.version ?? 0) + 1
    if (!removed || next <= floor) return floor
    yield* changesOf(this.#raiseFloor, next)
    return next
  }
}
