import { checkPin } from '../session/check-pin.ts'
import type { PinService } from '../session/service.ts'
import { fromText, toText } from './escaped-text.ts'
import { changesOf, command, query, type SqlDatabase, type SqlWork } from './sql.ts'

const FIND = query('SELECT hash FROM toolwright_pins WHERE app = ? AND name = ?')
const INTO = 'INSERT INTO toolwright_pins (app, name, hash) VALUES (?, ?, ?) ON CONFLICT (app, name)'
const SAVE = command(`${INTO} DO UPDATE SET hash = excluded.hash`)
const INSERT = command(`${INTO} DO NOTHING`)
const REPLACE = command('UPDATE toolwright_pins SET hash = ? WHERE app = ? AND name = ? AND hash = ?')

/** The pins of apps: hashes of definitions that the app trusts. */
export class SqlPins implements PinService {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  /** The pin; undefined if there is none. */
  async get({ appName }: { appName: string }, name: string): Promise<string | undefined> {
    checkPin(appName, name)
    const [row] = await this.#database.readOne(FIND, toText(appName), toText(name))
    return row && fromText(row.hash, `The pin "${name}"`)
  }

  /** Saves a pin: always, only without one (`expected` is null), or in place of the expected one. False: it was not saved. */
  async set(
    { appName }: { appName: string },
    name: string,
    hash: string,
    { expected }: { expected?: string | null | undefined } = {},
  ): Promise<boolean> {
    checkPin(appName, name, hash)
    const pin = [toText(appName), toText(name), toText(hash)] as const
    return (await this.#database.write(() => saveIf(pin, expected))) > 0
  }
}

function saveIf(
  [app, name, hash]: readonly [app: string, name: string, hash: string],
  expected: string | null | undefined,
): SqlWork<number> {
  if (expected === undefined) return changesOf(SAVE, app, name, hash)
  if (expected === null) return changesOf(INSERT, app, name, hash)
  return changesOf(REPLACE, hash, app, name, toText(expected))
}
