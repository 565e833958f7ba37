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
}

/** An invalid command line. Its message is one line. */
export class UsageError extends Error {
  /** The name in stack traces. */
  override readonly name: string = 'UsageError'
}
