import { createRequire } from 'node:module'
import { messageOf } from '../error/error.ts'
import { mcpCommand, mcpUsage } from './mcp/mcp-command.ts'
import { trustUsage } from './mcp/trust-command.ts'
import { runCommand, runUsage } from './run-command.ts'
import { escapeText } from './screen/escape.ts'
import { type Terminal, UsageError } from './terminal.ts'
import { toolCommand, toolUsage } from './tool/tool-command.ts'

interface Command {
  readonly summary: string
  readonly usage: string
  /** The help of parts of the command, by their names. */
  readonly parts?: ReadonlyMap<string, string>
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

const commands: ReadonlyMap<string, Command> = new Map([
  ['run', { summary: 'Chat with the agent in a file', usage: runUsage, run: runCommand }],
  ['tool', { summary: 'Call one tool of the agent in a file', usage: toolUsage, run: toolCommand }],
  [
    'mcp',
    {
      summary: 'Serve the agent in a file to MCP clients, or trust changed tools',
      usage: mcpUsage,
      parts: new Map([['trust', trustUsage]]),
      run: mcpCommand,
    },
  ],
])

const help = `toolwright <command>

${[...commands].map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`).join('\n')}

  --help      Show this help, or the help of a command
  --version   Show the version
`

/** Runs a command and returns the exit code: 0 for success, 1 for a failure, 2 for an invalid command line. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    terminal.errors.write(`toolwright: ${escapeText(messageOf(error))}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function dispatch([name, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined) throw new UsageError('No command given. Run `toolwright --help` to list the commands.')
  if (name === '--help' || name === '-h') return print(help, terminal)
  if (name === '--version' || name === '-v') return print(`${version()}\n`, terminal)
  const command = commands.get(name)
  if (!command) throw new UsageError(`Unknown command "${name}". Run \`toolwright --help\` to list the commands.`)
  if (rest.includes('--help') || rest.includes('-h')) return print(usageOf(command, rest), terminal)
  return await command.run(rest, terminal)
}

/** The help of a command, or of its part that the first argument names. */
function usageOf({ usage, parts }: Command, [first]: readonly string[]): string {
  return parts?.get(first ?? '') ?? usage
}

function print(text: string, { output }: Terminal): number {
  output.write(text)
  return 0
}

/** Resolves package.json by package name, which works in the source tree and in the build output. */
function version(): string {
  return createRequire(import.meta.url)('toolwright/package.json').version
}

/** How long timers and sockets of the agent file may keep the process alive after the command. */
const EXIT_GRACE_MS = 1_000

/** Runs the command of this process. The bin calls it. */
export async function start(): Promise<void> {
  const { stdin, stdout, stderr, argv, env } = process
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit() // the reading program closed the pipe, e.g. `| head`
    const reason = escapeText(messageOf(error))
    stderr.write(
      `toolwright: Cannot write to standard output: ${reason}. Check the file or pipe that receives the output.\n`,
    )
    process.exit(1)
  })
  stderr.on('error', () => {}) // a closed stderr must not stop the run
  const exit = (): void => process.exit(130)
  const folder = process.cwd()
  const terminal: Terminal = { input: stdin, output: stdout, errors: stderr, env, folder, signals: process, exit }
  process.once('beforeExit', failUnfinished)
  process.exitCode = await main(argv.slice(2), terminal)
  process.off('beforeExit', failUnfinished)
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref()
}

/** Sets exit code 1. Without it Node exits with 0 when the command awaits a promise that can never settle. */
function failUnfinished(): void {
  process.stderr.write(
    'toolwright: The command did not finish: it awaits a promise that never settles. Check the agent file, its model and its tools.\n',
  )
  process.exitCode = 1
}
