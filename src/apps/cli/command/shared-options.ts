// Options that several commands have. They mean the same in each of them.
import type { CommandOption, StringOptions } from './command.ts'

/** The app, the user and the store of sessions. */
export const sessionOptions: StringOptions<'user' | 'app' | 'db'> = {
  user: { type: 'string', value: '<id>', description: 'User the session belongs to (default: user)' },
  app: { type: 'string', value: '<name>', description: 'App the session belongs to (default: the file name)' },
  db: {
    type: 'string',
    value: '<file>',
    description: 'Store sessions, artifacts and credentials in this SQLite file (default: in memory)',
  },
}

/** `--memory` of the commands that store only pins unless `--db` is given. */
export const memoryOption: CommandOption & { type: 'boolean' } = {
  type: 'boolean',
  description: 'Store nothing, and do not compare the tools of MCP servers with their pins',
}
