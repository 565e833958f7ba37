import type { StringOptions } from '../command/command.ts'

/** Which app a command about a fleet reads, and where it is stored. */
export const storeOptions: StringOptions<'db' | 'app'> = {
  db: {
    type: 'string',
    value: '<file>',
    description: 'The SQLite file with the sessions (default: .toolwright/<app>.db)',
  },
  app: { type: 'string', value: '<name>', description: 'Name of the app (default: the name of the file or folder)' },
}
