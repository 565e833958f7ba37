// Starts another process on the same file. The test sends it commands over IPC.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { isRecord } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'

const PROGRAM = fileURLToPath(new URL('./other-process-program.test-kit.ts', import.meta.url))

/** Another process that runs commands of the test. */
export class OtherProcess {
  readonly #child: ChildProcess
  readonly #waiting: Map<number, { resolve(value: unknown): void; reject(error: unknown): void }> = new Map()
  readonly #listeners: Set<(progress: unknown) => void> = new Set()
  #commandCount = 0

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (message) => this.#onMessage(message))
    child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The process has ended.'))
      this.#waiting.clear()
    })
  }

  /** Runs a command in the process and returns its result. */
  do<T = unknown>(command: string, ...args: unknown[]): Promise<T> {
    const id = ++this.#commandCount
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#child.send({ id, command, args })
    }) as Promise<T>
  }

  /** Resolves when the process reports matching progress. */
  progress(matches: (progress: unknown) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const listener = (progress: unknown): void => {
        if (!matches(progress)) return
        this.#listeners.delete(listener)
        resolve()
      }
      this.#listeners.add(listener)
    })
  }

  /** Sends SIGKILL and waits for the end of the process. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const dead = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await dead
  }

  #onMessage(message: unknown): void {
    if (!isRecord(message)) return
    if ('progress' in message) for (const listener of this.#listeners) listener(message.progress)
    const waiting = this.#waiting.get(Number(message.id))
    if (!waiting) return
    this.#waiting.delete(Number(message.id))
    if (isRecord(message.error)) {
      waiting.reject(new ToolwrightError(message.error.code as never, String(message.error.message)))
    } else waiting.resolve(message.result)
  }
}

/** Starts a process and opens the file in it. `time` fixes its clock. */
export async function startProcess(file?: string, time?: number): Promise<OtherProcess> {
  const child = fork(PROGRAM, { execArgv: ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning'] })
  const other = new OtherProcess(child)
  onTestFinished(() => other.kill())
  if (file !== undefined) await other.do('open', file, time)
  return other
}
