import type { StatementSync } from 'node:sqlite'
import { type JsonObject, setOwn } from '../base/json.ts'
import { isTempKey, scopeOfKey } from '../base/key-scope.ts'
import type { StateReader } from '../session/service.ts'
import type { Database } from './database.ts'
import { fromJson, fromText, toJson, toText } from './text.ts'

/** Whose state it is, as columns hold it. */
export interface Owner {
  readonly app: string
  readonly user: string
  /** The row of the session. */
  readonly id: number
}

interface StateRow {
  readonly session: number
  readonly key: string
  readonly value: string
}

/** A delta in writing; null deletes. */
export type Change = readonly [key: string, value: string | null]

/** State of apps, users and sessions: one row for each key, under its prefix. */
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
    // the app's, the user's, the session's own
    const inOrder = 'ORDER BY user, session, rowid'
    this.#all = database.prepare(`SELECT session, key, value FROM toolwright_state WHERE ${ofSession} ${inOrder}`)
    this.#keys = database.prepare(`SELECT key FROM toolwright_state WHERE ${ofSession} ${inOrder}`)
  }

  /** Inside a transaction. */
  apply(owner: Owner, changes: readonly Change[]): void {
    for (const [key, value] of changes) {
      const place = placeOf(owner, key)
      if (value === null) this.#delete.run(...place, toText(key))
      else this.#put.run(...place, toText(key), value)
    }
  }

  /** A session's own, when it is deleted. */
  deleteOwn({ app, user, id }: Owner): void {
    this.#deleteAll.run(app, user, id)
  }

  /** All a session sees, in one object. */
  toJson({ app, user, id }: Owner): JsonObject {
    const all: JsonObject = {}
    for (const row of this.#all.all(app, user, id) as unknown[] as StateRow[]) {
      const key = fromText(row.key, 'A key of the state')
      setOwn(all, key, fromJson(row.value, `State "${key}"`))
    }
    return all
  }

  /**
   * For the holder of a session. Every look is a look into the database: whatever any process has committed is seen,
   * and there is no copy that could be behind.
   */
  reader(owner: Owner): StateReader {
    return {
      get: (key) => {
        const row = this.#database.look(() => this.#get.get(...placeOf(owner, key), toText(key)))
        return row && fromJson(row.value, `State "${key}"`)
      },
      keys: () => {
        const rows = this.#database.look(() => this.#keys.all(owner.app, owner.user, owner.id))
        return rows.map(({ key }) => fromText(key, 'A key of the state'))
      },
    }
  }
}

/** What a delta changes; `temp:` keys are left out. Throws on what JSON cannot hold. */
export function toChanges(delta: JsonObject): Change[] {
  return Object.keys(delta)
    .filter((key) => !isTempKey(key))
    .map((key) => {
      const value = delta[key]
      return [key, value === null || value === undefined ? null : toJson(value, `State "${key}"`)]
    })
}

function placeOf({ app, user, id }: Owner, key: string): [string, string, number] {
  const scope = scopeOfKey(key)
  if (scope === 'app') return [app, '', 0]
  return [app, user, scope === 'user' ? 0 : id]
}
