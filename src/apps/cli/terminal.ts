import type { ChildProcess } from 'node:child_process'
import type { SignalSource } from './input/interrupts.ts'
import type { KeyInput } from './input/keyboard.ts'
import type { Output } from './screen/screen.ts'

/** The parts of the process that a command uses. */
export interface Terminal {
  /** Standard input. */
  readonly input: KeyInput & { readonly isTTY?: boolean | undefined }
  /** Standard output. */
  readonly output: Output
  /** Standard error. */
  readonly errors: Output
  /** Environment variables; variables from `.env` are added. */
  readonly env: { [name: string]: string | undefined }
  /** The working directory. */
  readonly folder: string
  /** Emits SIGINT and SIGTERM. */
  readonly signals: SignalSource
  /** Ends the process at once, after Ctrl+C with nothing to cancel, or a second one. */
  exit(): void
  /** Runs the same command line in a child process. */
  startAgain(): ChildProcess
  /** The process that started this one with `startAgain()`; undefined if another program did. */
  readonly parent?: ParentProcess | undefined
}

/** The process that started this one, with a channel between them; `process` is one. */
export interface ParentProcess {
  /** Sends a message. */
  send?(message: object): unknown
  /** Adds a listener. `disconnect` is emitted when the process has ended. */
  on(event: 'message' | 'disconnect', callback: (message: unknown) => void): unknown
  /** Keeps this process alive, unless `unref()` was called. */
  readonly channel?: { unref(): void } | null | undefined
}

/** An invalid command line. Its message is one line. */
export class UsageError extends Error {
  /** The name in stack traces. */
  override readonly name: string = 'UsageError'
}
