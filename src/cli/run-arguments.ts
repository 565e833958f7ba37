import { parseArgs } from 'node:util'
import { messageOf } from '../error/error.ts'
import { UsageError } from './terminal.ts'

/** What stands after `toolwright run`. */
export interface RunArguments {
  readonly file: string
  readonly message: string | undefined
  readonly userId: string
  readonly sessionId: string | undefined
  readonly app: string | undefined
  readonly db: string | undefined
  readonly verbose: boolean
}

const options = {
  verbose: { type: 'boolean' },
  session: { type: 'string' },
  user: { type: 'string' },
  app: { type: 'string' },
  db: { type: 'string' },
} as const

export function parseRun(args: readonly string[]): RunArguments {
  const { values, positionals } = parsed(args)
  const [file, ...words] = positionals
  if (!file) throw new UsageError('Name an agent file: toolwright run <file> [message]')
  const message = words.length ? words.join(' ').trim() : undefined
  if (message === '') throw new UsageError('The message is empty.')
  for (const name of ['session', 'user', 'app', 'db'] as const) {
    if (values[name]?.trim() === '') throw new UsageError(`--${name} is empty.`)
  }
  const { session, user = 'user', app, db, verbose = false } = values
  return { file, message, userId: user, sessionId: session, app, db, verbose }
}

function parsed(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** How to continue a session in another process. */
export function howToGoOn({ file, userId, app, db }: RunArguments, sessionId: string, isKept: boolean): string {
  if (!isKept) return 'Sessions were in memory and end here; with --db <file> they are kept.'
  const user = userId === 'user' ? [] : ['--user', userId]
  const where = [...(db === undefined ? [] : ['--db', db]), ...(app === undefined ? [] : ['--app', app])]
  return `Continue with: ${['npx', 'toolwright', 'run', file, ...where, ...user, '--session', sessionId].map(quoted).join(' ')}`
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
