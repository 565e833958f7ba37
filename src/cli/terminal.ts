import type { Readable, Writable } from 'node:stream'
import type { Signals } from './interrupts.ts'

/** What a command sees of the process it runs in. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean | undefined }
  readonly output: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }
  readonly errors: Writable
  readonly env: { readonly [name: string]: string | undefined }
  readonly signals: Signals
  /** Ends the process at once: somebody insists. */
  leave(): void
}

/** The command line cannot be understood; the message is one sentence. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}
