import { createRequire } from 'node:module'
import { messageOf } from '../error/error.ts'
import { run, usage as runUsage } from './run.ts'
import { type Terminal, UsageError } from './terminal.ts'
import { visible } from './visible.ts'

interface Command {
  readonly summary: string
  readonly usage: string
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

const commands: ReadonlyMap<string, Command> = new Map([
  ['run', { summary: 'talk to the agent of a file', usage: runUsage, run }],
])

const help = `toolwright <command>

${[...commands].map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`).join('\n')}

  --help      show this, or with a command what it takes
  --version   show the version
`

/** Runs a command; answers the exit code: 0 when all went well, 1 when something failed, 2 when it was not understood. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    terminal.errors.write(`toolwright: ${visible(messageOf(error))}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function dispatch([name, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined) throw new UsageError('Name a command; `toolwright --help` lists them.')
  if (name === '--help' || name === '-h') return print(help, terminal)
  if (name === '--version' || name === '-v') return print(`${version()}\n`, terminal)
  const command = commands.get(name)
  if (!command) throw new UsageError(`There is no command "${name}"; \`toolwright --help\` lists them.`)
  if (rest.includes('--help') || rest.includes('-h')) return print(command.usage, terminal)
  return await command.run(rest, terminal)
}

function print(text: string, { output }: Terminal): number {
  output.write(text)
  return 0
}

/** By the package's own name, so that it is found from the source and from wherever the build puts this file. */
function version(): string {
  return createRequire(import.meta.url)('toolwright/package.json').version
}

/** How long what an agent file left running (a timer, a socket) may keep the process. */
const LINGER_MS = 1_000

/** The bin: runs the command of this process and lets it end. */
export async function start(): Promise<void> {
  const { stdin, stdout, stderr, argv, env } = process
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit() // the reader has seen enough
    stderr.write(`toolwright: The output cannot be written: ${visible(messageOf(error))}. Check where it goes.\n`)
    process.exit(1)
  })
  stderr.on('error', () => {}) // the run continues without its log
  const leave = (): void => process.exit(130)
  const folder = process.cwd()
  const terminal: Terminal = { input: stdin, output: stdout, errors: stderr, env, folder, signals: process, leave }
  process.once('beforeExit', failUnfinished)
  process.exitCode = await main(argv.slice(2), terminal)
  process.off('beforeExit', failUnfinished)
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

/** Node ends with 0 when nothing is left that could settle a promise, also in the middle of a command. */
function failUnfinished(): void {
  process.stderr.write(
    'toolwright: The command is not done, but nothing is left to wait for. Look for a promise in the agent file, its model or its tools that never settles.\n',
  )
  process.exitCode = 1
}
