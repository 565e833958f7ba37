// The chat in a real terminal, which tmux draws.
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { withoutKeys } from './child.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine

const hasTmux = spawnSync('tmux', ['-V']).status === 0
if (!hasTmux) console.warn('NOT TESTED: the chat in a terminal, which needs tmux.')

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

class Pane {
  readonly #socket = `toolwright-test-${process.pid}-${Math.random().toString(36).slice(2)}`

  constructor(columns: number, env: { readonly [name: string]: string } = {}) {
    const run = [
      process.execPath,
      '--conditions=toolwright:source',
      'src/cli/index.ts',
      'run',
      'test/examples/fixtures/show.ts',
    ]
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

const PROMPT = /^>\s*$/m

test.skipIf(!hasTmux)(
  'the chat shows header, markdown, tools and an approval, and handles paste, Ctrl+C and Ctrl+D',
  async () => {
    const pane = new Pane(60)
    expect(await pane.until(PROMPT)).toMatch(
      /^agent {4}showcase\nmodel {4}showcase-1\ntools {4}get_weather, download, refund\n/,
    )

    pane.type('markdown', 'Enter')
    const article = await pane.until(/Done\.\n1,204 tokens in, 87 out, \d+\.\ds\n\n>/)
    expect(article).toContain('feel like minus ten degrees. See\n')
    expect(article).toContain('• Wear a warm coat and gloves')
    expect(article).toContain('Monday    -3     1\n')
    expect(pane.screen('-e')).toContain('\x1b[1mcold')

    pane.type('weather', 'Enter')
    expect(await pane.until(/2,408 tokens/)).toMatch(
      /^✓ get_weather {2}city: Oslo.*\n {2}city: Oslo, .{5,}… \(\/more shows all\)\n\nThe tool said/m,
    )
    pane.type('refund', 'Enter')
    await pane.until('Approve? yes / no / edit:')
    pane.type('maybe', 'Enter')
    await pane.until('Type yes or no or edit')
    pane.type('yes', 'Enter')
    await pane.until('orderId: A-7, amount: 500, refunded: true')

    await pane.until(/^>\s*$/m)
    pane.paste('one\ntwo')
    await pane.until('> one↵two')
    pane.type('Enter')
    await pane.until('You said one\ntwo\n')

    await pane.until(PROMPT)
    pane.type('C-d')
    expect(await pane.until(/left with 0/)).not.toMatch(SPINNER)
  },
)

test.skipIf(!hasTmux)(
  'the chat shows a spinner with progress, and Ctrl+C cancels the turn and removes the spinner',
  async () => {
    const pane = new Pane(40, { STEP_MS: '200000' })
    await pane.until(PROMPT)
    pane.type('download', 'Enter')
    await pane.until(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] download {2}percent: 0, file: map\.png/m)
    pane.type('hi', 'Enter') // typed during a turn, so it becomes the next message
    pane.type('C-c')
    const after = await pane.until(/^You said hi$/m)
    expect(after).toMatch(/^> download\n✗ download[\s\S]*! CANCELLED: The run was cancelled\.\n/m)
    expect(after).not.toMatch(SPINNER)
    await pane.until(PROMPT)
    pane.type('C-c')
    await pane.until('Press Ctrl+C again to exit.')
    pane.type('C-c')
    await pane.until(/left with 0/)
  },
)
