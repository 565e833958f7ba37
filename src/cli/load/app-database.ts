// Where the commands store the sessions of an app, so that one command continues what another one began.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { isRecord } from '../../base/json.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { CommandOption, Flags } from '../command/command.ts'
import { UsageError } from '../terminal.ts'

/** The database that `--memory` stands for. */
export const MEMORY = ':memory:'

/** The options of the commands that store sessions below `.toolwright`. */
export const databaseOptions: { readonly db: CommandOption & { type: 'string' } } & Flags<'memory'> = {
  db: {
    type: 'string',
    value: '<file>',
    description: 'Store sessions, artifacts and credentials in this SQLite file (default: .toolwright/<app>.db)',
  },
  memory: { type: 'boolean', description: 'Store nothing: sessions are forgotten at the end' },
}

/** The database that the options name; undefined for the default one. */
export function readDatabase(values: {
  readonly db?: string | undefined
  readonly memory?: boolean | undefined
}): string | undefined {
  if (!values.memory) return values.db
  if (values.db !== undefined) throw new UsageError('--memory stores nothing, and --db names a file. Pass one of them.')
  return MEMORY
}

/** The database of an app: the given one, or the default one, whose folder is created. */
export function openDatabaseFolder(db: string | undefined, folder: string, app: string): string {
  if (db !== undefined) return db
  const file = defaultDatabase(folder, app)
  createStoreFolder(dirname(file))
  return file
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

/** Creates a folder that only its owner can read and that Git ignores: state may hold secrets. */
function createStoreFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (error) {
    if (isRecord(error) && error.code === 'EEXIST' && error.syscall === 'open') return // the file is there
    const message = `Sessions cannot be stored in "${folder}": ${messageOf(error)}. Pass --db <file>, or --memory to store none.`
    throw new ToolwrightError('INVALID_CONFIG', message, { cause: error })
  }
}
