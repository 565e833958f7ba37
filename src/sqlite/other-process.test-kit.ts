// Another process on the same file, told over IPC what to do; it answers when it has done it.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { isRecord } from '../base/json.ts'
import { ToolwrightError } from '../error/error.ts'

const PROGRAM = fileURLToPath(new URL('./other-process-program.test-kit.ts', import.meta.url))

export class OtherProcess {
  readonly #child: ChildProcess
  readonly #waiting: Map<number, { resolve(value: unknown): void; reject(error: unknown): void }> = new Map()
  readonly #listeners: Set<(progress: unknown) => void> = new Set()
  #orders = 0

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (message) => this.#heard(message))
    child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the process has ended'))
      this.#waiting.clear()
    })
  }

  /** Tells it to do something; settles when it is done. */
  do<T = unknown>(command: string, ...args: unknown[]): Promise<T> {
    const id = ++this.#orders
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#child.send({ id, command, args })
    }) as Promise<T>
  }

  /** Settles when it reports what was waited for. */
  progress(isIt: (progress: unknown) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const listener = (progress: unknown): void => {
        if (!isIt(progress)) return
        this.#listeners.delete(listener)
        resolve()
      }
      this.#listeners.add(listener)
    })
  }

  /** kill -9, and wait until it is dead. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const dead = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await dead
  }

  #heard(message: unknown): void {
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

/** A process that has the file open, at a time of its own; without a file it waits to be told. */
export async function startProcess(file?: string, time?: number): Promise<OtherProcess> {
  const child = fork(PROGRAM, { execArgv: ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning'] })
  const other = new OtherProcess(child)
  onTestFinished(() => other.kill())
  if (file !== undefined) await other.do('open', file, time)
  return other
}
