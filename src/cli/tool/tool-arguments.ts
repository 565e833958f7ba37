import { parseArgs } from 'node:util'
import { isRecord, type JsonObject } from '../../base/json.ts'
import { optionProblem } from '../option-problem.ts'
import { UsageError } from '../terminal.ts'

/** The arguments of `toolwright tool`. */
export interface ToolArguments {
  /** Path of the agent file. */
  readonly file: string
  /** Name of the tool. */
  readonly name: string
  /** `--args`; default `{}`. */
  readonly args: JsonObject
  /** `--user`; default `user`. */
  readonly userId: string
  /** `--app`; undefined means the name of the file. */
  readonly app: string | undefined
  /** `--db`; undefined keeps the session in memory. */
  readonly db: string | undefined
  /** `--verbose`; default false. */
  readonly verbose: boolean
}

const options = {
  args: { type: 'string' },
  user: { type: 'string' },
  app: { type: 'string' },
  db: { type: 'string' },
  verbose: { type: 'boolean' },
} as const

/** Parses the arguments of `toolwright tool`; throws a `UsageError` when they are invalid. */
export function parseToolArguments(args: readonly string[]): ToolArguments {
  const { values, positionals } = parseOptions(args)
  const [file, name, ...others] = positionals
  if (!file || !name || others.length)
    throw new UsageError("Pass an agent file and a tool. Usage: toolwright tool <file> <name> --args '{...}'")
  for (const option of ['user', 'app', 'db'] as const) {
    if (values[option]?.trim() === '') throw new UsageError(`--${option} is empty. Pass a value, or remove the option.`)
  }
  const { user = 'user', app, db, verbose = false } = values
  return { file, name, args: parseJson(values.args ?? '{}'), userId: user, app, db, verbose }
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

function parseOptions(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(optionProblem(error))
  }
}
