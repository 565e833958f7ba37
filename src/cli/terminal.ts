import type { Signals } from './interrupts.ts'
import type { KeyInput } from './keyboard.ts'
import type { Output } from './screen.ts'

/** What a command sees of the process it runs in. */
export interface Terminal {
  readonly input: KeyInput & { readonly isTTY?: boolean | undefined }
  readonly output: Output
  readonly errors: Output
  /** The variables of the process; those of `.env` are added. */
  readonly env: { [name: string]: string | undefined }
  /** The working directory. */
  readonly folder: string
  readonly signals: Signals
  /** Ends the process at once: somebody insists. */
  leave(): void
}

/** The command line cannot be understood; the message is one sentence. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}
