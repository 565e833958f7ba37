import type { StatementSync } from 'node:sqlite'
import { type JsonObject, setOwn } from '../../core/base/json.ts'
import { isTempKey, scopeOfKey } from '../../core/base/key-scope.ts'
import type { StateReader, StateSize } from '../../services/session/service.ts'
import type { Database } from './database.ts'
import { fromJson, fromText, toJson, toText } from './escaped-text.ts'

/** The session that state belongs to, as columns. */
interface StateOwner {
  /** App name, encoded. */
  readonly app: string
  /** User id, encoded. */
  readonly user: string
  /** Row id of the session. */
  readonly id: number
}

interface StateRow {
  readonly session: number
  readonly key: string
  readonly value: string
}

/** A state change as columns; null deletes the key. */
export type StateChange = readonly [key: string, value: string | null]

/** The state of apps, users and sessions, one row per key. */
export class StateRows {
  readonly #database: Database
  readonly #get: StatementSync
  readonly #put: StatementSync
  readonly #delete: StatementSync
  readonly #deleteAll: StatementSync
  readonly #all: StatementSync
  readonly #keys: StatementSync
  readonly #size: StatementSync
  readonly #sizeOf: StatementSync

  constructor(database: Database) {
    this.#database = database
    const ofOwner = 'app = ? AND user = ? AND session = ?'
    const ofSession = "app = ? AND (user = '' OR (user = ? AND session IN (0, ?)))"
    this.#get = database.prepare(`SELECT value FROM toolwright_state WHERE ${ofOwner} AND key = ?`)
    this.#put = database.prepare(
      `INSERT INTO toolwright_state (app, user, session, key, value) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value`,
    )
    this.#delete = database.prepare(`DELETE FROM toolwright_state WHERE ${ofOwner} AND key = ?`)
    this.#deleteAll = database.prepare(`DELETE FROM toolwright_state WHERE ${ofOwner}`)
    // app state first, then user state, then session state
    const inOrder = 'ORDER BY user, session, rowid'
    this.#all = database.prepare(`SELECT session, key, value FROM toolwright_state WHERE ${ofSession} ${inOrder}`)
    // in characters, as all limits of Toolwright
    const size = 'count(*) AS keys, coalesce(sum(length(key) + length(value)), 0) AS bytes'
    this.#size = database.prepare(`SELECT ${size} FROM toolwright_state WHERE ${ofOwner}`)
    this.#sizeOf = database.prepare(`SELECT ${size} FROM toolwright_state WHERE ${ofOwner} AND key = ?`)
    this.#keys = database.prepare(`SELECT key FROM toolwright_state WHERE ${ofSession} ${inOrder}`)
  }

  /** Applies state changes. Call it in a transaction. */
  apply(owner: StateOwner, changes: readonly StateChange[]): void {
    for (const [key, value] of changes) {
      const columns = rowKey(owner, key)
      if (value === null) this.#delete.run(...columns, toText(key))
      else this.#put.run(...columns, toText(key), value)
    }
  }

  /** Deletes the state of a session, but not of its user or app. */
  deleteSessionState({ app, user, id }: StateOwner): void {
    this.#deleteAll.run(app, user, id)
  }

  /** Reads session, user and app state into one object, and its length as JSON. */
  read({ app, user, id }: StateOwner): { readonly state: JsonObject; readonly bytes: number } {
    const state: JsonObject = {}
    let bytes = 0
    for (const row of this.#all.all(app, user, id) as unknown[] as StateRow[]) {
      const key = fromText(row.key, 'A state key')
      setOwn(state, key, fromJson(row.value, `State "${key}"`))
      bytes += row.key.length + row.value.length
    }
    return { state, bytes }
  }

  /** How much state a session, or with the id 0 its user, has. `without`: keys that are not counted. Values are not read. */
  size({ app, user, id }: StateOwner, without: readonly string[]): StateSize {
    const all = this.#size.get(app, user, id) as unknown as StateSize
    let { keys, bytes } = all
    for (const key of new Set(without)) {
      if ((scopeOfKey(key) === 'user') !== (id === 0)) continue
      const one = this.#sizeOf.get(app, user, id, toText(key)) as unknown as StateSize
      keys -= one.keys
      bytes -= one.bytes
    }
    return { keys, bytes }
  }

  /** Creates the state reader of a session's holder. Every call reads the file, so it sees the commits of all processes. */
  reader(owner: StateOwner): StateReader {
    return {
      get: (key) => {
        const row = this.#database.readNow(() => this.#get.get(...rowKey(owner, key), toText(key)))
        return row && fromJson(row.value, `State "${key}"`)
      },
      keys: () => {
        const rows = this.#database.readNow(() => this.#keys.all(owner.app, owner.user, owner.id))
        return rows.map(({ key }) => fromText(key, 'A state key'))
      },
    }
  }
}

/** Encodes a state delta without its `temp:` keys. Throws INVALID_REQUEST for a value that JSON cannot hold. */
export function encodeStateDelta(delta: JsonObject): StateChange[] {
  return Object.keys(delta)
    .filter((key) => !isTempKey(key))
    .map((key) => {
      const value = delta[key]
      return [key, value === null || value === undefined ? null : toJson(value, `State "${key}"`)]
    })
}

function rowKey({ app, user, id }: StateOwner, key: string): [string, string, number] {
  const scope = scopeOfKey(key)
  if (scope === 'app') return [app, '', 0]
  return [app, user, scope === 'user' ? 0 : id]
}
