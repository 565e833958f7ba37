import type { ChildProcess } from 'node:child_process'
import { isRecord } from '../../../../core/base/json.ts'
import { systemPorts } from '../../../../core/base/ports.ts'
import { withTimeout } from '../../../../core/base/with-timeout.ts'
import type { StartMessage, WatchCommand } from './watch-messages.ts'

/** A tool that blocks the process does not keep the next server waiting. */
const RESTART_MS = 3_000

/** The server in a child process, as the watching process sees it. */
export class WatchedServer {
  /** The exit code; 1 if a signal ended the process. */
  readonly exited: Promise<number>
  readonly #child: ChildProcess
  readonly #onFile: (file: string) => void
  #phase: 'starting' | 'loading' | 'loaded' | 'listening' = 'starting'
  #port: number | undefined

  /** `onFile` is called with each file that the server has read. */
  constructor(child: ChildProcess, start: StartMessage, onFile: (file: string) => void) {
    this.#child = child
    this.#onFile = onFile
    this.exited = new Promise((resolve) => {
      child.once('exit', (code) => resolve(code ?? 1))
      child.once('error', () => resolve(1))
    })
    child.on('message', (message) => this.#receive(message))
    this.#send(start)
  }

  /** The port; undefined until the server listens. */
  get port(): number | undefined {
    return this.#port
  }

  /** Did it stop while it loaded the agent files? A change of the files can correct that. */
  get failedToLoad(): boolean {
    return this.#phase === 'loading'
  }

  /** Stops the server as a signal does: running turns may finish. */
  stop(): void {
    this.#send({ type: 'stop' })
  }

  /** Ends the process at once. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Ends the server without waiting for running turns: the next one resumes them. */
  async restart(): Promise<void> {
    if (this.#phase === 'listening') this.#send({ type: 'restart' })
    else this.kill()
    await withTimeout(this.exited, RESTART_MS, systemPorts, () => this.kill())
    await this.exited
  }

  #send(message: WatchCommand): void {
    if (this.#child.connected) this.#child.send(message, () => {}) // a process that has just ended gets none
  }

  #receive(message: unknown): void {
    if (!isRecord(message)) return
    if (message.type === 'file' && typeof message.file === 'string') {
      if (this.#phase === 'starting') this.#phase = 'loading'
      this.#onFile(message.file)
    }
    if (message.type === 'loaded') this.#phase = 'loaded'
    if (message.type === 'listening' && typeof message.port === 'number') {
      this.#phase = 'listening'
      this.#port = message.port
    }
  }
}
