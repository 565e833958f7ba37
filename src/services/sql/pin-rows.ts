import { fromText, toText } from './escaped-text.ts'
import { changesOf, command, query, type SqlDatabase, type SqlWork, type Statement } from './sql.ts'

/** The pins of apps: hashes of definitions that the app trusts. */
export class PinRows {
  readonly #find: Statement = query('SELECT hash FROM toolwright_pins WHERE app = ? AND name = ?')
  readonly #save: Statement = command(
    `INSERT INTO toolwright_pins (app, name, hash) VALUES (?, ?, ?)
     ON CONFLICT (app, name) DO UPDATE SET hash = excluded.hash`,
  )
  readonly #insert: Statement = command(
    'INSERT INTO toolwright_pins (app, name, hash) VALUES (?, ?, ?) ON CONFLICT (app, name) DO NOTHING',
  )
  readonly #replace: Statement = command('UPDATE toolwright_pins SET hash = ? WHERE app = ? AND name = ? AND hash = ?')

  /** The pin; undefined if there is none. */
  async find(database: SqlDatabase, appName: string, name: string): Promise<string | undefined> {
    const [row] = await database.readOne(this.#find, toText(appName), toText(name))
    return row && fromText(row.hash, `The pin "${name}"`)
  }

  /** Saves a pin: always, without a pin (`expected` is null), or in place of the expected one. False: it was not saved. */
  *save(pin: { appName: string; name: string; hash: string; expected: string | null | undefined }): SqlWork<boolean> {
    const [app, name, hash] = [toText(pin.appName), toText(pin.name), toText(pin.hash)]
    const { expected } = pin
    if (expected === undefined) return (yield* changesOf(this.#save, app, name, hash)) > 0
    if (expected === null) return (yield* changesOf(this.#insert, app, name, hash)) > 0
    return (yield* changesOf(this.#replace, hash, app, name, toText(expected))) > 0
  }
}
