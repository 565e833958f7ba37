// A terminal without a process, for tests that go through `main()`.
import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { main } from './main.ts'
import { withoutProgress } from './screen/without-progress.test-kit.ts'

/** How the fake terminal differs from a pipe without input. */
export interface TerminalSetup {
  /** Standard input, which then ends. Default: it stays open. */
  readonly input?: string
  /** Environment variables. Default: none. */
  readonly env?: { [name: string]: string | undefined }
  /** The working directory. Default: an empty folder, which is removed at the end. */
  readonly folder?: string
  /** Input, output and errors are a terminal that cannot redraw lines. Default: false. */
  readonly isTTY?: boolean
}

/** What a command printed, without progress, and its exit code. */
interface Ended {
  readonly code: number
  readonly out: string
  readonly errors: string
}

/** A command that runs. */
export interface StartedCommand {
  /** Standard input. */
  readonly input: PassThrough
  /** Emits SIGINT and SIGTERM. */
  readonly signals: EventEmitter
  /** The exit code and the output. */
  readonly ended: Promise<Ended>
  /** Whether the command asked to end the process at once. */
  hasExited(): boolean
  /**
   * Waits until the command has printed the text, or what it has printed fits, and returns its standard output. Fails when the
   * command ends before.
   */
  until(text: string | ((printed: string) => boolean)): Promise<string>
}

/** Starts a command. */
export function startCommandLine(args: readonly string[], setup: TerminalSetup = {}): StartedCommand {
  const { env = {}, isTTY = false } = setup
  const own = setup.folder === undefined ? mkdtempSync(join(tmpdir(), 'toolwright-command-')) : undefined
  const folder = setup.folder ?? own ?? ''
  const kind = { isTTY, columns: 100 }
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = Object.assign(new PassThrough({ encoding: 'utf8' }), kind)
  const errors = Object.assign(new PassThrough({ encoding: 'utf8' }), kind)
  const signals = new EventEmitter()
  const written = { out: '', errors: '' }
  let hasExited = false
  output.on('data', (chunk) => (written.out += chunk))
  errors.on('data', (chunk) => (written.errors += chunk))
  if (setup.input !== undefined) input.end(setup.input)
  const exit = (): void => {
    hasExited = true
  }
  const variables = { TERM: 'dumb', ...env }
  const startAgain = (): ChildProcess => {
    const child = fork(resolve('src/apps/cli/index.ts'), args, {
      cwd: folder,
      env: { ...process.env, ...variables, TOOLWRIGHT_CHILD: '1' },
      execArgv: ['--conditions=toolwright:source'],
      silent: true,
    })
    child.stdout?.pipe(output, { end: false })
    child.stderr?.pipe(errors, { end: false })
    return child
  }
  const ended = main(args, { input, output, errors, env: variables, folder, signals, exit, startAgain }).then(
    async (code) => {
      if (own !== undefined) rmSync(own, { recursive: true })
      output.end()
      errors.end()
      await Promise.all([output, errors].map((stream) => stream.readableEnded || once(stream, 'end')))
      return { code, out: written.out, errors: withoutProgress(written.errors) }
    },
  )
  return {
    input,
    signals,
    ended,
    hasExited: () => hasExited,
    async until(text) {
      const fits = typeof text === 'string' ? (printed: string) => printed.includes(text) : text
      const hasPrinted = (): boolean => fits(`${written.out}\n${written.errors}`)
      while (!hasPrinted()) {
        const more = Promise.race([once(output, 'data'), once(errors, 'data')])
        const end = await Promise.race([more.then(() => undefined), ended])
        if (end && !hasPrinted()) throw new Error(`No "${text}" in:\n${end.out}\n${end.errors}`)
      }
      return written.out
    },
  }
}

/** Runs a command to its end. */
export function runCommandLine(args: readonly string[], setup?: TerminalSetup): Promise<Ended> {
  return startCommandLine(args, setup).ended
}
