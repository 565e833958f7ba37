import { parseArgs } from 'node:util'
import { optionProblem } from './option-problem.ts'
import { UsageError } from './terminal.ts'

/** The arguments of `toolwright run`. */
export interface RunArguments {
  /** Path of the agent file. */
  readonly file: string
  /** The message of a single turn; undefined starts a chat. */
  readonly message: string | undefined
  /** `--user`; default `user`. */
  readonly userId: string
  /** `--session`; undefined creates a session. */
  readonly sessionId: string | undefined
  /** `--app`; undefined means the name of the file. */
  readonly app: string | undefined
  /** `--db`; undefined keeps sessions in memory. */
  readonly db: string | undefined
  /** Open the browser when a tool needs a sign-in; false with `--no-browser`. */
  readonly opensBrowser: boolean
  /** `--verbose`; default false. */
  readonly verbose: boolean
}

const options = {
  verbose: { type: 'boolean' },
  'no-browser': { type: 'boolean' },
  session: { type: 'string' },
  user: { type: 'string' },
  app: { type: 'string' },
  db: { type: 'string' },
} as const

/** Parses the arguments of `toolwright run`; throws a `UsageError` when they are invalid. */
export function parseRunArguments(args: readonly string[]): RunArguments {
  const { values, positionals } = parseOptions(args)
  const [file, ...words] = positionals
  if (!file) throw new UsageError('No agent file given. Usage: toolwright run <file> [message]')
  const message = words.length ? words.join(' ').trim() : undefined
  if (message === '') throw new UsageError('The message is empty. Pass a text, or omit it to start a chat.')
  for (const name of ['session', 'user', 'app', 'db'] as const) {
    if (values[name]?.trim() === '') throw new UsageError(`--${name} is empty. Pass a value, or remove the option.`)
  }
  const { session, user = 'user', app, db, verbose = false } = values
  const opensBrowser = !values['no-browser']
  return { file, message, userId: user, sessionId: session, app, db, opensBrowser, verbose }
}

function parseOptions(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(optionProblem(error))
  }
}

/** The command that continues a session in another process, or why there is none. */
export function continueHint(
  { file, userId, app, db }: RunArguments,
  sessionId: string,
  isPersistent: boolean,
): string {
  if (!isPersistent) return 'This session was in memory and is gone. To save sessions, use --db <file>.'
  const user = userId === 'user' ? [] : ['--user', userId]
  const where = [...(db === undefined ? [] : ['--db', db]), ...(app === undefined ? [] : ['--app', app])]
  return `Continue with: ${['npx', 'toolwright', 'run', file, ...where, ...user, '--session', sessionId].map(quoteForShell).join(' ')}`
}

/** Quotes a word for a POSIX shell. */
function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
