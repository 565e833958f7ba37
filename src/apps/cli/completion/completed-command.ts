import type { Command } from '../command/command.ts'

/** A command as a completion script sees it. */
export interface CompletedCommand {
  /** The words that start it, separated by a space. */
  readonly name: string
  /** One line about it. */
  readonly summary: string
  /** Its options. */
  readonly options: readonly CompletedOption[]
  /** The words that its first argument can be; empty for files. */
  readonly choices: readonly string[]
}

/** An option of a command, with its dashes. */
interface CompletedOption {
  /** The option as it is typed: `--db`. */
  readonly name: string
  /** Whether a value follows. */
  readonly hasValue: boolean
  /** One line about it. */
  readonly description: string
}

/** The commands and their parts, each with `--help`. The names of parts are choices of their command. */
export function completedCommands(commands: readonly Command[]): CompletedCommand[] {
  return commands.flatMap(({ name, summary, options, parts, choices = [] }) => [
    {
      name,
      summary,
      options: [
        ...Object.entries(options).map(([option, { type, description }]) => ({
          name: `--${option}`,
          hasValue: type === 'string',
          description,
        })),
        { name: '--help', hasValue: false, description: 'Show the help' },
      ],
      choices: [...choices, ...parts.map((part) => part.name.slice(name.length + 1))],
    },
    ...completedCommands(parts),
  ])
}

/** Quotes a text for bash, zsh and fish. Texts of commands have no line breaks. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
