// Starts programs like a user does, and reads their output.
import { type ChildProcess, spawn } from 'node:child_process'
import { withoutProgress } from '../../src/apps/cli/screen/without-progress.test-kit.ts'

/** The result of a program. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** The environment without API keys, so that no test reaches a provider. Keys are empty, so that no `.env` file sets them. */
export function withoutKeys(): NodeJS.ProcessEnv {
  const names = /^(?:GEMINI|GOOGLE|OPENAI|ANTHROPIC)_/
  const others = Object.entries(process.env).filter(([name]) => !names.test(name))
  return {
    ...Object.fromEntries(others),
    GEMINI_API_KEY: '',
    GOOGLE_API_KEY: '',
    OPENAI_API_KEY: '',
    ANTHROPIC_API_KEY: '',
  }
}

/** Runs a file of the repository with the Node that runs the tests. */
export function node(
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<Ended> {
  const child = new Child([process.execPath, '--conditions=toolwright:source', ...args], options.env, options.cwd)
  child.process.stdin?.end(options.input ?? '')
  return child.ended
}

/** A running program. */
export class Child {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
  out = ''
  errors = ''

  constructor(
    [command = '', ...args]: readonly string[],
    env: NodeJS.ProcessEnv = withoutKeys(),
    cwd?: string,
    { detached = false }: { detached?: boolean } = {},
  ) {
    this.process = spawn(command, args, { stdio: 'pipe', env, cwd, detached })
    this.process.stdout?.setEncoding('utf8').on('data', (chunk) => (this.out += chunk))
    this.process.stderr?.setEncoding('utf8').on('data', (chunk) => (this.errors += chunk))
    this.ended = new Promise((resolve, reject) => {
      this.process.on('error', reject)
      this.process.on('close', (code) => resolve({ code, out: this.out, errors: withoutProgress(this.errors) }))
    })
  }

  /** Waits until its output contains `text`. Fails when the program ends before. */
  async until(text: string): Promise<void> {
    const { stdout } = this.process
    while (!this.out.includes(text)) {
      const more = new Promise((resolve) => stdout?.once('data', resolve))
      const end = await Promise.race([more.then(() => undefined), this.ended])
      if (end && !this.out.includes(text))
        throw new Error(`The program ended without "${text}":\n${end.out}\n${end.errors}`)
    }
  }
}
