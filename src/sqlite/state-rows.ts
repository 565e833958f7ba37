import type { StatementSync } from 'node:sqlite'
import { type JsonObject, setOwn } from '../base/json.ts'
import { isTempKey, scopeOfKey } from '../base/key-scope.ts'
import type { StateReader } from '../session/service.ts'
import type { Database } from './database.ts'
import { fromJson, fromText, toJson, toText } from './text-encoding.ts'

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

  /** Reads session, user and app state into one object. */
  toJson({ app, user, id }: StateOwner): JsonObject {
    const all: JsonObject = {}
    for (const row of this.#all.all(app, user, id) as unknown[] as StateRow[]) {
      const key = fromText(row.key, 'A state key')
      setOwn(all, key, fromJson(row.value, `State "${key}"`))
    }
    return all
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
