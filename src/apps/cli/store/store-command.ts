import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { UsageError } from '../terminal.ts'
import { statsCommand } from './stats-command.ts'

const parts: readonly Command[] = [statsCommand]

/** `toolwright store`. */
export const storeCommand: Command = defineCommand({
  name: 'store',
  summary: 'Look at a store of sessions',
  usage: 'stats <file>',
  description: ['Commands for the SQLite file of a store.'],
  options: {},
  parts,
  examples: [['toolwright store stats app.db', 'sessions, bytes, the oldest and the largest sessions']],
  choices: parts.map(({ name }) => name.slice('store '.length)),
  run: async ({ positionals: [given] }) => {
    const known = parts.map(({ name }) => `\`toolwright ${name} <file>\``).join(', ')
    const problem = given === undefined ? 'Name a command' : `"${given}" is no command of toolwright store`
    throw new UsageError(`${problem}: ${known}.`)
  },
})
