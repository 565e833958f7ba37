import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closestNames } from '../../core/base/closest-names.ts'
import { escapeText } from '../../core/base/escape.ts'
import { messageOf } from '../../core/error/error.ts'
import type { Command } from './command/command.ts'
import { helpOf, overviewOf } from './command/help.ts'
import { commands } from './commands.ts'
import { packageFolder } from './package-folder.ts'
import { type Terminal, UsageError } from './terminal.ts'

/** Runs a command and returns the exit code: 0 for success, 1 for a failure, 2 for an invalid command line. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    terminal.errors.write(`toolwright: ${escapeText(messageOf(error))}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined) return print(overviewOf(commands), terminal)
  if (name === '--version' || name === '-v') return print(`${version()}\n`, terminal)
  const isHelp = name === '--help' || name === '-h' || name === 'help'
  if (isHelp && rest.length === 0) return print(overviewOf(commands), terminal)
  const { command, own } = findCommand(isHelp ? rest : args)
  const end = own.indexOf('--')
  const before = end < 0 ? own : own.slice(0, end)
  if (isHelp || before.includes('--help') || before.includes('-h')) return print(helpOf(command), terminal)
  return await command.run(own, terminal)
}

/** The command that the first words name, and its own arguments. */
function findCommand([name = '', ...rest]: readonly string[]): { command: Command; own: readonly string[] } {
  const command = commands.find((one) => one.name === name)
  if (!command) {
    const [closest] = closestNames(
      name,
      commands.map((one) => one.name),
    )
    const guess = closest === undefined ? '' : ` Did you mean "${closest}"?`
    throw new UsageError(`Unknown command "${name}".${guess} Run \`toolwright --help\` to list the commands.`)
  }
  const part = command.parts.find((one) => one.name === `${name} ${rest[0]}`)
  return part ? { command: part, own: rest.slice(1) } : { command, own: rest }
}

function print(text: string, { output }: Terminal): number {
  output.write(text)
  return 0
}

function version(): string {
  return JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')).version
}

/** How long timers and sockets of the agent file may keep the process alive after the command. */
const EXIT_GRACE_MS = 1_000

/** Set for a process that this command line has started. */
const CHILD_VARIABLE = 'TOOLWRIGHT_CHILD'

/** Runs the command of this process. The bin calls it, with its own path. */
export async function start(bin: string): Promise<void> {
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
  hideSqliteWarning()
  const exit = (): void => process.exit(130)
  const folder = process.cwd()
  const parent = env[CHILD_VARIABLE] && process.send ? process : undefined
  delete env[CHILD_VARIABLE] // it is not meant for processes that tools start
  const startAgain = (): ChildProcess => fork(bin, argv.slice(2), { env: { ...env, [CHILD_VARIABLE]: '1' } })
  const streams = { input: stdin, output: stdout, errors: stderr }
  const terminal: Terminal = { ...streams, env, folder, signals: process, exit, startAgain, parent }
  process.once('beforeExit', failUnfinished)
  process.exitCode = await main(argv.slice(2), terminal)
  process.off('beforeExit', failUnfinished)
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref()
}

/** Node 22 warns about its SQLite in each process. The commands store sessions with it, and their users cannot act on it. */
function hideSqliteWarning(): void {
  const emit = process.emitWarning
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (typeof warning === 'string' && warning.startsWith('SQLite is an experimental feature')) return
    Reflect.apply(emit, process, [warning, ...rest])
  }
}

/** Sets exit code 1. Without it Node exits with 0 when the command awaits a promise that can never settle. */
function failUnfinished(): void {
  process.stderr.write(
    'toolwright: The command did not finish: it awaits a promise that never settles. Check the agent file, its model and its tools.\n',
  )
  process.exitCode = 1
}
