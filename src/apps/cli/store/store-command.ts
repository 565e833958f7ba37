import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { UsageError } from '../terminal.ts'
import { copyCommand } from './copy-command.ts'

const parts: readonly Command[] = [copyCommand]

/** `toolwright store`. */
export const storeCommand: Command = defineCommand({
  name: 'store',
  summary: 'Copy a store of sessions',
  usage: 'copy <from> <to>',
  description: ['Commands for stores of sessions.'],
  options: {},
  parts,
  examples: [['toolwright store copy app.db "$DATABASE_URL"', 'move from SQLite to Postgres']],
  choices: parts.map(({ name }) => name.slice('store '.length)),
  run: async ({ positionals: [given] }) => {
    const known = parts.map(({ name, usage }) => `\`toolwright ${name} ${usage}\``).join(', ')
    const problem = given === undefined ? 'Name a command' : `"${given}" is no command of toolwright store`
    throw new UsageError(`${problem}: ${known}.`)
  },
})
