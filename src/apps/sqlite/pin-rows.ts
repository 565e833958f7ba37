import type { StatementSync } from 'node:sqlite'
import type { Database } from './database.ts'
import { fromText, toText } from './escaped-text.ts'

/** The pins of apps: hashes of definitions that the app trusts. */
export class PinRows {
  readonly #find: StatementSync
  readonly #save: StatementSync

  constructor(database: Database) {
    this.#find = database.prepare('SELECT hash FROM toolwright_pins WHERE app = ? AND name = ?')
    this.#save = database.prepare('INSERT OR REPLACE INTO toolwright_pins (app, name, hash) VALUES (?, ?, ?)')
  }

  /** The pin; undefined if there is none. */
  find(appName: string, name: string): string | undefined {
    const row = this.#find.get(toText(appName), toText(name))
    return row && fromText(row.hash, `The pin "${name}"`)
  }

  /** Saves a pin. Call it in a transaction. */
  save(appName: string, name: string, hash: string): void {
    this.#save.run(toText(appName), toText(name), toText(hash))
  }
}
