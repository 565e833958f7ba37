import { once } from 'node:events'
import { relative, resolve } from 'node:path'
import { escapeText } from '../../../../core/base/escape.ts'
import { createToken } from '../../../server/principal/create-token.ts'
import { createInterrupts } from '../../input/interrupts.ts'
import type { Terminal } from '../../terminal.ts'
import { WatchedFiles } from './watched-files.ts'
import { WatchedServer } from './watched-server.ts'

/** Ends on purpose: after a signal, or after the second one. */
const STOPPED: ReadonlySet<number> = new Set([0, 130])

/**
 * Runs the same command in a child process, and starts it again when a file that it has read changes. All of them have one token
 * and one port. Node cannot unload modules, and `node --watch` does not notice a file that is missing for a moment, or `.env`.
 */
export async function watchServer(terminal: Terminal, paths: readonly string[]): Promise<number> {
  const files = new WatchedFiles()
  for (const path of ['.env', ...paths]) files.add(resolve(terminal.folder, path))
  const watch = new Watch(terminal, files)
  try {
    return await watch.run()
  } finally {
    watch.close()
    files.close()
  }
}

class Watch {
  readonly #terminal: Terminal
  readonly #files: WatchedFiles
  readonly #token = createToken()
  readonly #stopped = new AbortController()
  readonly #interrupts: { close(): void }
  #server: WatchedServer | undefined
  #port: number | undefined

  constructor(terminal: Terminal, files: WatchedFiles) {
    this.#terminal = terminal
    this.#files = files
    this.#interrupts = createInterrupts(terminal.signals, {
      onUnhandled: () => this.#onSignal(),
      names: ['SIGINT', 'SIGTERM'],
    })
  }

  /** Starts servers until one ends on purpose. Returns the exit code. */
  async run(): Promise<number> {
    while (!this.#stopped.signal.aborted) {
      const server = this.#start()
      const code = await this.#changeOr(server.exited)
      this.#port ??= server.port
      if (code === undefined) {
        await server.restart()
        continue
      }
      // the first server cannot start, and no agent file is the reason
      const isHopeless = this.#port === undefined && !server.failedToLoad
      if (STOPPED.has(code) || isHopeless) return code
      this.#terminal.output.write('Waiting     for a change of the files\n')
      await this.#changeOr(once(this.#stopped.signal, 'abort'))
    }
    return 0
  }

  /** Stops listening to signals. */
  close(): void {
    this.#interrupts.close()
  }

  #start(): WatchedServer {
    const start = { type: 'start', token: this.#token, port: this.#port } as const
    this.#server = new WatchedServer(this.#terminal.startAgain(), start, (file) => this.#files.add(file))
    return this.#server
  }

  /** Undefined after a change. What ends before that is returned. */
  async #changeOr<T>(other: Promise<T>): Promise<T | undefined> {
    const waiting = new AbortController()
    const report = async (): Promise<undefined> => {
      const files = await this.#files.changed(waiting.signal)
      const names = files.map((file) => escapeText(relative(this.#terminal.folder, file)))
      if (names.length > 0) this.#terminal.output.write(`Changed     ${names.join(', ')}\n`)
    }
    return await Promise.race([report(), other]).finally(() => waiting.abort())
  }

  #onSignal(): void {
    if (this.#stopped.signal.aborted) {
      this.#server?.kill()
      this.#terminal.exit()
    }
    this.#stopped.abort()
    this.#server?.stop()
  }
}
