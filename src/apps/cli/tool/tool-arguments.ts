import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { CommandLine, Flags, StringOptions } from '../command/command.ts'
import { callStoreOptions } from '../command/store-options.ts'
import { readDatabase } from '../load/app-database.ts'
import { UsageError } from '../terminal.ts'

/** The arguments of `toolwright tool`. */
export interface ToolArguments {
  /** Path of the agent file. */
  readonly file: string
  /** Name of the tool; undefined with `--list`. */
  readonly name: string | undefined
  /** `--agent`; undefined means any agent of the file. */
  readonly agent: string | undefined
  /** `--args`; default `{}`. */
  readonly args: JsonObject
  /** `--user`; default `user`. */
  readonly userId: string
  /** `--app`; undefined means the name of the file. */
  readonly app: string | undefined
  /** `--db`, or `:memory:` for `--memory`; undefined keeps the session in memory, and uses the pins of the app. */
  readonly db: string | undefined
  /** `--verbose`; default false. */
  readonly verbose: boolean
}

type ToolOptions = StringOptions<'args' | 'agent' | 'user' | 'app' | 'db'> & Flags<'list' | 'memory' | 'verbose'>

/** The options of `toolwright tool`. */
export const toolOptions: ToolOptions = {
  args: { type: 'string', value: '<json>', description: 'Arguments of the call (default: {})' },
  list: { type: 'boolean', description: 'List the tools of all agents with their descriptions' },
  agent: {
    type: 'string',
    value: '<name>',
    description: 'The agent that has the tool (default: the first agent, else the only sub-agent with it)',
  },
  ...callStoreOptions,
  user: { ...callStoreOptions.user, description: 'User the tool acts for (default: user)' },
  verbose: { type: 'boolean', description: "Show progress and the framework's log" },
}

/** Reads the command line of `toolwright tool`; throws a `UsageError` when it is invalid. */
export function readToolArguments({ values, positionals }: CommandLine<ToolOptions>): ToolArguments {
  const [file, name, ...others] = positionals
  const { args = '{}', list = false, agent, user = 'user', app, verbose = false } = values
  const db = readDatabase(values)
  if (others.length)
    throw new UsageError("Pass the arguments of the tool with --args: toolwright tool <file> <name> --args '{...}'")
  if (!file || (!name && !list))
    throw new UsageError("Pass an agent file and a tool. Usage: toolwright tool <file> <name> --args '{...}'")
  if (list && name) throw new UsageError('--list takes no tool. Usage: toolwright tool <file> --list')
  return { file, name, agent, args: parseJson(args), userId: user, app, db, verbose }
}

function parseJson(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {
    // the message of JSON.parse shows a part of the arguments
  }
  throw new UsageError(`--args must be a JSON object, such as '{"city":"Oslo"}'.`)
}
