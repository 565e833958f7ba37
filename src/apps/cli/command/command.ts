// A command as data: the parser, the help and the shell completion read the same description.
import type { Terminal } from '../terminal.ts'

/** An option of a command, such as `--db <file>`. */
export interface CommandOption {
  /** Whether the option has a value. */
  readonly type: 'string' | 'boolean'
  /** The option may be given several times. Default: the last value counts. */
  readonly multiple?: boolean
  /** The value in the help, such as `<file>`. */
  readonly value?: string
  /** One sentence for the help, without a period at its end. */
  readonly description: string
}

/** The options of a command, by name without dashes. */
export type CommandOptions = { readonly [name: string]: CommandOption }

/** Options with a value. */
export type StringOptions<Names extends string> = { readonly [Name in Names]: CommandOption & { type: 'string' } }

/** Options without a value. */
export type Flags<Names extends string> = { readonly [Name in Names]: CommandOption & { type: 'boolean' } }

/** The values that were given, by option. */
type OptionValues<Options extends CommandOptions> = {
  readonly [Name in keyof Options]?: OptionValue<Options[Name]> | undefined
}

type OptionValue<Option extends CommandOption> = Option['type'] extends 'boolean'
  ? boolean
  : Option extends { multiple: true }
    ? readonly string[]
    : string

/** A parsed command line. */
export interface CommandLine<Options extends CommandOptions> {
  /** The values of the options. */
  readonly values: OptionValues<Options>
  /** The arguments that belong to no option. */
  readonly positionals: readonly string[]
}

/** What the help and the shell completion say about a command. */
export interface CommandDescription {
  /** The words that start it: `run`, or `mcp trust`. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The arguments in the help, such as `<file> [message]`. */
  readonly usage: string
  /** What it does, in paragraphs. */
  readonly description: readonly string[]
  /** Its options. `--help` is added. */
  readonly options: CommandOptions
  /** Paragraphs after the options. */
  readonly notes?: readonly string[]
  /** Command lines that can be copied, each with what it does. */
  readonly examples: readonly (readonly [commandLine: string, purpose: string])[]
  /** Meanings of exit codes. They replace or complete the usual ones: 0, 1 and 2. */
  readonly exitCodes?: { readonly [code: number]: string }
  /** The words that the first argument can be. Default: a file. */
  readonly choices?: readonly string[]
}

/** A command of `toolwright`. */
export interface Command extends CommandDescription {
  /** Commands whose name starts with the name of this one. */
  readonly parts: readonly Command[]
  /** Runs it and returns the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** The first line of the help: the command and its arguments. */
export function usageLine({ name, usage }: Pick<CommandDescription, 'name' | 'usage'>): string {
  return `toolwright ${name}${usage && ` ${usage}`}`
}
