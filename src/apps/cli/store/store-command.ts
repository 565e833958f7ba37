import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { UsageError } from '../terminal.ts'
import { copyCommand } from './copy-command.ts'
import { statsCommand } from './stats-command.ts'

const parts: readonly Command[] = [statsCommand, copyCommand]

/** `toolwright store`. */
export const storeCommand: Command = defineCommand({
  name: 'store',
  summary: 'Look at a store of sessions, or copy it to another database',
  usage: 'stats|copy ...',
  description: ['Commands for stores of sessions.'],
  options: {},
  parts,
  examples: [
    ['toolwright store stats app.db', 'sessions, bytes, the oldest and the largest sessions'],
    ['toolwright store stats "$DATABASE_URL"', 'the same of a store in Postgres'],
    ['toolwright store copy app.db "$DATABASE_URL"', 'from SQLite to Postgres'],
  ],
  choices: parts.map(({ name }) => name.slice('store '.length)),
  run: async ({ positionals: [given] }) => {
    const known = parts.map(({ name, usage }) => `\`toolwright ${name} ${usage}\``).join(', ')
    const problem = given === undefined ? 'Name a command' : `"${given}" is no command of toolwright store`
    throw new UsageError(`${problem}: ${known}.`)
  },
})
