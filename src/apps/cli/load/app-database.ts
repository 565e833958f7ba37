// Where the commands store the sessions of an app, so that one command continues what another one began.
import { join, relative } from 'node:path'
import { UsageError } from '../terminal.ts'

/** The database that `--memory` stands for. */
export const MEMORY = ':memory:'

/** The database that the options name; undefined for the default one. */
export function readDatabase(values: {
  readonly db?: string | undefined
  readonly memory?: boolean | undefined
}): string | undefined {
  if (!values.memory) return values.db
  if (values.db !== undefined) throw new UsageError('--memory stores nothing, and --db names a file. Pass one of them.')
  return MEMORY
}

/** The database of an app without `--db`, in the working directory. */
export function defaultDatabase(folder: string, app: string): string {
  return join(folder, '.toolwright', `${encodeURIComponent(app)}.db`)
}

/** Where the sessions of a chat are, for its user. `given` is the path as it was typed. */
export function databaseText(db: string | undefined, given: string | undefined, folder: string): string {
  if (db === undefined) return "in the runner's store"
  return db === MEMORY ? 'in memory' : `in ${given ?? relative(folder, db)}`
}
