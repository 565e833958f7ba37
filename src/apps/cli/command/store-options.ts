// The options of all commands that name a store: its file, the app and the user. They mean the same in each command.
import type { CommandOption, Flags, StringOptions } from './command.ts'

const app: CommandOption & { type: 'string' } = {
  type: 'string',
  value: '<name>',
  description: 'Name of the app (default: the name of the file or folder)',
}
const user: CommandOption & { type: 'string' } = {
  type: 'string',
  value: '<id>',
  description: 'User the session belongs to (default: user)',
}

/** `--db` of a command. `holds`: what the command does with the file. */
function databaseOption(holds: string, byDefault = '.toolwright/<app>.db'): CommandOption & { type: 'string' } {
  return { type: 'string', value: '<file>', description: `${holds} (default: ${byDefault})` }
}

/** The store of an app whose sessions a command reads or continues. */
export const storeOptions: StringOptions<'db' | 'app'> = {
  db: databaseOption('The SQLite file with the sessions'),
  app,
}

/** The store of the sessions of one user. */
export const userStoreOptions: StringOptions<'db' | 'app' | 'user'> = { ...storeOptions, user }

const WRITES = 'Store sessions, artifacts and credentials in this SQLite file'

/** The store of a command that runs sessions. */
export const databaseOptions: StringOptions<'db'> & Flags<'memory'> = {
  db: databaseOption(WRITES),
  memory: { type: 'boolean', description: 'Store nothing: sessions are forgotten at the end' },
}

/** The store of a command that calls single tools. Without `--db` it stores only pins. */
export const callStoreOptions: StringOptions<'db' | 'app' | 'user'> & Flags<'memory'> = {
  user,
  app,
  db: databaseOption(WRITES, 'in memory'),
  memory: {
    type: 'boolean',
    description: 'Store nothing, and do not compare the tools of MCP servers with their pins',
  },
}
