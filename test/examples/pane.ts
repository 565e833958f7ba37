// Runs the command in a real terminal, which tmux draws.
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { withoutKeys } from './child.ts'

/** Is tmux installed? */
export const hasTmux: boolean = spawnSync('tmux', ['-V']).status === 0

/** The chat of `toolwright run` with an agent file, or another program, in a terminal that tmux draws. */
export class Pane {
  readonly #socket = `toolwright-test-${process.pid}-${Math.random().toString(36).slice(2)}`

  constructor(
    columns: number,
    env: { readonly [name: string]: string } = {},
    program: string | readonly string[] = 'test/examples/fixtures/show.ts',
  ) {
    const args = typeof program === 'string' ? ['src/apps/cli/index.ts', 'run', program, '--memory'] : program
    const run = [process.execPath, '--conditions=toolwright:source', ...args]
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    // tmux does not always report the exit status, so the shell prints it
    const command = ['sh', '-c', '"$@"; echo "left with $?"', 'sh', 'env', '-u', 'NO_COLOR', ...variables, ...run]
    const size = ['-x', `${columns}`, '-y', '50']
    // one tmux command, so that the pane stays readable after the program ends
    this.#tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      ...size,
      ...command,
      ';',
      'set-option',
      '-g',
      'remain-on-exit',
      'on',
    )
    onTestFinished(() => void this.#tmux('kill-server'))
  }

  type(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys)
  }

  paste(text: string): void {
    this.#tmux('set-buffer', text)
    this.#tmux('paste-buffer', '-p')
  }

  /** The text on the screen, with or without styles. */
  screen(...options: '-e'[]): string {
    return this.#tmux('capture-pane', '-p', ...options)
  }

  /** Waits until the screen shows `text`. */
  async until(text: string | RegExp): Promise<string> {
    for (let tries = 0; tries < 400; tries++) {
      const screen = this.screen()
      if (typeof text === 'string' ? screen.includes(text) : text.test(screen)) return screen
      await setTimeout(50)
    }
    throw new Error(`"${text}" did not appear:\n${this.screen()}`)
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], {
      encoding: 'utf8',
      env: { ...withoutKeys(), TERM: 'xterm' },
    })
  }
}
