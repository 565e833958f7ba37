import { parseArgs } from 'node:util'
import { closestNames } from '../../../core/base/closest-names.ts'
import { messageOf } from '../../../core/error/error.ts'
import { UsageError } from '../terminal.ts'
import type { CommandLine, CommandOptions } from './command.ts'

/** Parses arguments by the options of a command. Throws a `UsageError` for an unknown option, or one without its value. */
export function parseCommandLine<Options extends CommandOptions>(
  options: Options,
  args: readonly string[],
): CommandLine<Options> {
  const { values, positionals } = parse(options, args)
  for (const [name, given] of Object.entries(values)) {
    const isEmpty = [given].flat().some((value) => typeof value === 'string' && value.trim() === '')
    if (isEmpty) throw new UsageError(`--${name} is empty. Pass a value, or remove the option.`)
  }
  return { values: values as CommandLine<Options>['values'], positionals } // parseArgs has checked the types
}

function parse(options: CommandOptions, args: readonly string[]): ReturnType<typeof parseArgs> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(optionProblem(error, Object.keys(options)))
  }
}

/** What is wrong with the options. Our advice replaces the one of Node about options as arguments. */
function optionProblem(error: unknown, names: readonly string[]): string {
  const [problem = ''] = messageOf(error).replaceAll('\n', ' ').split('. To specify')
  const unknown = /^Unknown option '--(.+)'/.exec(problem)?.[1]
  const closest = unknown === undefined ? [] : closestNames(unknown, names)
  const guess = closest.length
    ? ` Did you mean ${closest.map((name) => `--${name}`).join(' or ')}?`
    : adviceFor(unknown, names)
  return `${problem.replace(/\.$/, '')}.${guess} Add --help to list the options.`
}

/** A command that takes arguments of a tool takes them as JSON. */
function adviceFor(unknown: string | undefined, names: readonly string[]): string {
  return unknown !== undefined && names.includes('args') ? ' Arguments of a tool go into --args.' : ''
}

/** Reads the value of a `--port` option. */
export function parsePort(port: string): number {
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port)
  throw new UsageError(`--port must be a number from 0 to 65535, got "${port}".`)
}
