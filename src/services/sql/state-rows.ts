import { type JsonObject, setOwn } from '../../core/base/json.ts'
import type { StateSize } from '../session/service.ts'
import { fromJson, fromText, toText } from './escaped-text.ts'
import { MultiRowInsert } from './multi-row-insert.ts'
import type { RowOwner } from './session-row.ts'
import {
  changesOf,
  command,
  query,
  rowOf,
  rowsOf,
  type SqlRow,
  type SqlValue,
  type SqlWork,
  type Statement,
} from './sql.ts'
import { SCOPES, type ScopedChanges, type StateScope, scopeIn } from './state-change.ts'

/** The session that state belongs to, as columns. */
export type StateOwner = Pick<RowOwner, 'app' | 'user' | 'id'>

/** The state of a session with its length as JSON. */
interface ReadState {
  /** Session, user and app state. */
  readonly state: JsonObject
  /** The length of keys and values. */
  readonly bytes: number
}

/** The owner of a scope as columns. An empty user is the app, and the session 0 is the user or the app. */
type ScopeColumns = readonly [app: string, user: string, session: number]

const OF_OWNER = 'app = ? AND "user" = ? AND session = ?'
const OF_SESSION = `app = ? AND ("user" = '' OR ("user" = ? AND session IN (0, ?)))`
/** App state first, then user state, then session state, each in the order in which its keys were first stored. */
const IN_ORDER = 'ORDER BY "user", session, rowid'
/** In characters, as all limits of Toolwright. */
const SIZE = 'count(*) AS keys, coalesce(sum(length(key) + length(value)), 0) AS bytes'

/** The state of apps, users and sessions, one row per key. */
export class StateRows {
  readonly #get: Statement = query(`SELECT value FROM toolwright_state WHERE ${OF_OWNER} AND key = ?`)
  readonly #put: MultiRowInsert = new MultiRowInsert(
    'toolwright_state (app, "user", session, key, value)',
    5,
    'ON CONFLICT (app, "user", session, key) DO UPDATE SET value = excluded.value',
  )
  readonly #delete: Statement = command(`DELETE FROM toolwright_state WHERE ${OF_OWNER} AND key = ?`)
  readonly #deleteAll: Statement = command(`DELETE FROM toolwright_state WHERE ${OF_OWNER}`)
  readonly #all: Statement = query(`SELECT key, value FROM toolwright_state WHERE ${OF_SESSION} ${IN_ORDER}`)
  readonly #range: Statement = query(
    `SELECT session, key, value FROM toolwright_state
     WHERE app = ? AND ("user" = '' OR ("user" = ? AND (session = 0 OR session BETWEEN ? AND ?))) ${IN_ORDER}`,
  )
  readonly #scope: Statement = query(`SELECT key, value FROM toolwright_state WHERE ${OF_OWNER} ${IN_ORDER}`)
  readonly #keys: Statement = query(`SELECT key FROM toolwright_state WHERE ${OF_SESSION} ${IN_ORDER}`)
  readonly #size: Statement = query(`SELECT ${SIZE} FROM toolwright_state WHERE ${OF_OWNER}`)
  readonly #sizeOf: Statement = query(`SELECT ${SIZE} FROM toolwright_state WHERE ${OF_OWNER} AND key = ?`);

  /** Applies state changes. Two writers of shared keys must not run it at the same time: they could wait for each other. */
  *apply(owner: StateOwner, changes: ScopedChanges): SqlWork<void> {
    const stored: SqlValue[] = []
    for (const scope of SCOPES) {
      if (changes[scope].length === 0) continue
      const columns = scopeColumns(owner, scope)
      for (const [key, value] of changes[scope]) {
        if (value === null) yield* changesOf(this.#delete, ...columns, toText(key))
        else stored.push(...columns, toText(key), value)
      }
    }
    yield* this.#put.insert(stored)
  }

  /** Deletes the state of a session, but not of its user or app. */
  *deleteSessionState({ app, user, id }: StateOwner): SqlWork<void> {
    yield* changesOf(this.#deleteAll, app, user, id)
  }

  /** Deletes the state of a user, but not of its sessions. */
  *deleteUserState({ app, user }: StateOwner): SqlWork<void> {
    yield* changesOf(this.#deleteAll, app, user, 0)
  }

  /** Reads session, user and app state into one object, and its length as JSON. */
  *read({ app, user, id }: StateOwner): SqlWork<ReadState> {
    return toState(yield* rowsOf(this.#all, app, user, id))
  }

  /** Reads the state of sessions of one user, in one statement. */
  *readEach<O extends StateOwner>(owners: readonly O[]): SqlWork<(ReadState & { readonly owner: O })[]> {
    const [first] = owners
    if (!first) return []
    const ids = owners.map(({ id }) => id)
    const [from, to] = [Math.min(...ids), Math.max(...ids)]
    const rows = yield* rowsOf(this.#range, first.app, first.user, from, to)
    const bySession = Map.groupBy(rows, ({ session }) => session)
    const shared = bySession.get(0) ?? []
    return owners.map((owner) => ({ owner, ...toState([...shared, ...(bySession.get(owner.id) ?? [])]) }))
  }

  /** Reads the values of one scope. */
  *readScope(owner: StateOwner, scope: StateScope): SqlWork<[key: string, value: unknown][]> {
    return (yield* rowsOf(this.#scope, ...scopeColumns(owner, scope))).map(decodeState)
  }

  /** Reads one value; undefined if there is none. */
  *get(owner: StateOwner, key: string): SqlWork<unknown> {
    const row = yield* rowOf(this.#get, ...scopeColumns(owner, scopeIn(key)), toText(key))
    return row && fromJson(row.value, `State "${key}"`)
  }

  /** Lists the keys of session, user and app state. */
  *keys({ app, user, id }: StateOwner): SqlWork<string[]> {
    return (yield* rowsOf(this.#keys, app, user, id)).map(({ key }) => fromText(key, 'A state key'))
  }

  /** How much state a session, or with the id 0 its user, has. `without`: keys that are not counted. Values are not read. */
  *size({ app, user, id }: StateOwner, without: readonly string[]): SqlWork<StateSize> {
    let { keys, bytes } = toSize(yield* rowOf(this.#size, app, user, id))
    for (const key of new Set(without)) {
      if ((scopeIn(key) === 'user') !== (id === 0)) continue
      const one = toSize(yield* rowOf(this.#sizeOf, app, user, id, toText(key)))
      keys -= one.keys
      bytes -= one.bytes
    }
    return { keys, bytes }
  }
}

/** The columns of a scope. */
export function scopeColumns({ app, user, id }: StateOwner, scope: StateScope): ScopeColumns {
  if (scope === 'app') return [app, '', 0]
  return [app, user, scope === 'user' ? 0 : id]
}

function toState(rows: readonly SqlRow[]): ReadState {
  const state: JsonObject = {}
  let bytes = 0
  for (const row of rows) {
    const [key, value] = decodeState(row)
    setOwn(state, key, value)
    bytes += String(row.key).length + String(row.value).length
  }
  return { state, bytes }
}

function decodeState(row: SqlRow): [key: string, value: unknown] {
  const key = fromText(row.key, 'A state key')
  return [key, fromJson(row.value, `State "${key}"`)]
}

function toSize(row: SqlRow | undefined): StateSize {
  return { keys: Number(row?.keys), bytes: Number(row?.bytes) }
}
