import { escapeLine } from '../../../core/base/escape.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { CommandLine, Flags, StringOptions } from '../command/command.ts'
import { databaseOptions, userStoreOptions } from '../command/store-options.ts'
import { readDatabase } from '../load/app-database.ts'
import { quoteForShell } from '../screen/quote-for-shell.ts'
import { type Terminal, UsageError } from '../terminal.ts'

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
  /** `--db`, or `:memory:` for `--memory`; undefined means the default database of the app. */
  readonly db: string | undefined
  /** `--json`; default false. */
  readonly json: boolean
  /** Open the browser when a tool needs a sign-in; false with `--no-browser`. */
  readonly opensBrowser: boolean
  /** `--verbose`; default false. */
  readonly verbose: boolean
  /** `--trace`; default false. */
  readonly trace: boolean
}

type RunOptions = StringOptions<'session' | 'user' | 'app' | 'db'> &
  Flags<'memory' | 'json' | 'no-browser' | 'verbose' | 'trace'>

/** The options of `toolwright run`. */
export const runOptions: RunOptions = {
  session: { type: 'string', value: '<id>', description: 'Continue this session and ask its pending requests first' },
  ...userStoreOptions,
  ...databaseOptions,
  json: { type: 'boolean', description: 'Write events as JSON, one per line, and read JSON lines' },
  'no-browser': { type: 'boolean', description: 'Print the link of a sign-in without opening the browser' },
  verbose: { type: 'boolean', description: "Show results in full, and the framework's log" },
  trace: {
    type: 'boolean',
    description: 'After each turn, show its agents, model calls and tool calls, with times and tokens',
  },
}

/** Reads the command line of `toolwright run`; throws a `UsageError` when it is invalid. */
export function readRunArguments({ values, positionals }: CommandLine<RunOptions>): RunArguments {
  const [file, ...words] = positionals
  if (!file) throw new UsageError('No agent file given. Usage: toolwright run <file> [message]')
  const message = words.length ? words.join(' ').trim() : undefined
  if (message === '') throw new UsageError('The message is empty. Pass a text, or omit it to start a chat.')
  const { session, user = 'user', app, json = false, verbose = false, trace = false } = values
  const opensBrowser = !values['no-browser']
  const db = readDatabase(values)
  return { file, message, userId: user, sessionId: session, app, db, json, opensBrowser, verbose, trace }
}

/** How to send the result of a long-running call, or why that is not possible. */
export function resultHint(
  given: RunArguments,
  { id, sessionId }: Pick<PendingRequest, 'id' | 'sessionId'>,
  isPersistent: boolean,
): string {
  if (!isPersistent) return 'Only this process has the session, so its result cannot be sent. Leave out --memory.'
  const answer = `{"answer":{"id":${JSON.stringify(id)},"response":<JSON>}}`
  return `Send the result: echo ${quoteForShell(answer)} | ${sessionCommand(given, sessionId)} --json`
}

/** The command that continues a session in another process, or why there is none. */
export function continueHint(given: RunArguments, sessionId: string, isPersistent: boolean): string {
  if (!isPersistent) return 'This session was in memory and is gone. To save sessions, leave out --memory.'
  return `Continue with: ${sessionCommand(given, sessionId)}`
}

function sessionCommand({ file, userId, app, db }: RunArguments, sessionId: string): string {
  const user = userId === 'user' ? [] : ['--user', userId]
  const where = [...(db === undefined ? [] : ['--db', db]), ...(app === undefined ? [] : ['--app', app])]
  return ['npx', 'toolwright', 'run', file, ...where, ...user, '--session', sessionId].map(quoteForShell).join(' ')
}

/**
 * Says that a session is new: a mistyped id would otherwise look like a session that has forgotten everything. Refuses a session with
 * open requests of an agent that this file does not have, such as one of `toolwright mcp`: a run would end them.
 */
export async function checkSession(runner: Runner, given: RunArguments, { errors }: Terminal): Promise<void> {
  const { userId, sessionId = '' } = given
  const { appName, sessionService, agent } = runner
  const shown = escapeLine(sessionId)
  const known = await sessionService.getSession({ appName, userId, sessionId, config: { numRecentEvents: 1 } })
  if (!known) errors.write(`Session "${shown}" does not exist yet. The first message starts it.\n`)
  const [root = agent.name] = known?.events[0]?.nodeInfo?.path.split('/') ?? []
  if (root === agent.name || (await runner.pending({ userId, sessionId })).length === 0) return
  const problem = `Session "${shown}" has open requests of agent "${escapeLine(root)}", which this file does not have`
  throw new UsageError(`${problem}: a run would end them. Answer them where they were asked, or leave out --session.`)
}
