// The rules of users: their shared state, and the end of all that sessions store for them.
import { type JsonObject, setOwn } from '../../core/base/json.ts'
import { deleteRow } from './create-rules.ts'
import { toText } from './escaped-text.ts'
import { copiesOf } from './session-row.ts'
import type { SessionTables } from './session-tables.ts'
import { query, rowsOf, type SqlWork } from './sql.ts'
import type { StateUpdate } from './state-copy.ts'
import type { StateOwner } from './state-rows.ts'

/** A user of an app. */
export interface UserOwner {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
}

/** How many sessions are deleted in one transaction: other writers wait for it. */
const SESSIONS_AT_ONCE = 20

const SOME_SESSIONS = query(
  `SELECT id, app, "user" FROM toolwright_sessions WHERE app IN (?, ?) AND "user" = ? ORDER BY id LIMIT ${SESSIONS_AT_ONCE}`,
)

/** The `user:` state of a user. */
export function* userState({ stateRows }: SessionTables, user: UserOwner): SqlWork<JsonObject> {
  const state: JsonObject = {}
  for (const [key, value] of yield* stateRows.readScope(ownerOf(user), 'user')) setOwn(state, key, value)
  return state
}

/** Deletes some sessions of a user, unfinished copies included, and returns their row ids; none if there are no more. */
export function* deleteSomeSessions(tables: SessionTables, { appName, userId }: UserOwner): SqlWork<number[]> {
  const found = yield* rowsOf(SOME_SESSIONS, toText(appName), copiesOf(appName), toText(userId))
  const rows = found as unknown as StateOwner[] // the columns have types in both databases
  for (const row of rows) yield* deleteRow(tables, row)
  return rows.map(({ id }) => id)
}

/** Deletes the `user:` state. */
export function deleteUserState({ state }: SessionTables, user: UserOwner): SqlWork<readonly StateUpdate[]> {
  return state.deleteUser(ownerOf(user))
}

function ownerOf({ appName, userId }: UserOwner): { app: string; user: string; id: number } {
  return { app: toText(appName), user: toText(userId), id: 0 }
}
