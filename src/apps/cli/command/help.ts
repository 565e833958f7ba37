import { type Command, type CommandDescription, type CommandOptions, usageLine } from './command.ts'

/** Columns of the help. */
const WIDTH = 100

const HELP_OPTION: CommandOptions = { help: { type: 'boolean', description: 'Show this help' } }

const EXIT_CODES: NonNullable<CommandDescription['exitCodes']> = {
  0: 'success',
  1: 'failure',
  2: 'invalid command line',
}

/** The help of a command: what it does, its options, examples and exit codes. */
export function helpOf(command: Command): string {
  const { description, options, parts, notes = [], examples, exitCodes } = command
  const sections = [
    usageLine(command),
    ...description.map((paragraph) => wrap(paragraph)),
    table(optionRows({ ...options, ...HELP_OPTION })),
    ...(parts.length ? [`Related:\n${table(parts.map((part) => [usageLine(part), part.summary]))}`] : []),
    ...notes.map((paragraph) => wrap(paragraph)),
    `Examples:\n${examples.map(([line, purpose]) => `  ${line}\n      ${purpose}`).join('\n')}`,
    `Exit codes:\n${table(Object.entries({ ...EXIT_CODES, ...exitCodes }))}`,
  ]
  return `${sections.join('\n\n')}\n`
}

/** The help of `toolwright`: all commands. */
export function overviewOf(commands: readonly Command[]): string {
  const global = [
    ['--help', 'Show this help, or the help of a command'],
    ['--version', 'Show the version'],
  ] as const
  return `toolwright <command>

${table(commands.map(({ name, summary }) => [name, summary]))}

${table(global)}

Examples:
  toolwright create my-agent
      a new project
  toolwright web agent.ts --open
      the workbench in your browser, for an agent in a file

\`toolwright <command> --help\` shows the options, examples and exit codes of a command.
`
}

/** The option as it is typed, such as `--db <file>`. */
function optionRows(options: CommandOptions): [string, string][] {
  return Object.entries(options).map(([name, { value, description }]) => [
    `--${name}${value ? ` ${value}` : ''}`,
    description,
  ])
}

/** Rows of two columns. The second one is wrapped. */
function table(rows: readonly (readonly [string, string])[]): string {
  const start = Math.max(...rows.map(([left]) => left.length)) + 5
  return rows.map(([left, right]) => `  ${left}`.padEnd(start) + wrap(right, start)).join('\n')
}

/** Breaks a text into rows between words. Rows after the first are indented. */
function wrap(text: string, indent = 0): string {
  const rows: string[] = []
  let row = ''
  for (const word of text.split(' ')) {
    if (row && indent + row.length + 1 + word.length > WIDTH) {
      rows.push(row)
      row = word
    } else row = row ? `${row} ${word}` : word
  }
  return [...rows, row].join(`\n${' '.repeat(indent)}`)
}
