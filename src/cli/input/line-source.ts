import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { escapeLine } from '../../base/escape.ts'
import type { Interrupts } from './interrupts.ts'

/** The result of reading a line: the line, the end of the input, Ctrl+C, or the abort of the read. */
export type LineResult =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'interrupt' }
  | { readonly type: 'aborted' }

/** Reads lines one at a time. */
export interface LineSource {
  /**
   * Reads the next message, or, with the label of a request prompt, the answer to it. `initial` is put on a line that the
   * user can edit. `signal` removes the prompt, and the line that it would read goes to the next one.
   */
  read(label?: string, initial?: string, signal?: AbortSignal): Promise<LineResult>
  /** Stops reading. */
  close(): void
}

/** Returns the given lines, then the end. */
export function fixedLines(texts: readonly string[]): LineSource {
  const rest = texts.values()
  return {
    async read() {
      const { value: text } = rest.next()
      return text === undefined ? { type: 'end' } : { type: 'line', text }
    },
    close: () => {},
  }
}

/** Reads lines from a file or another program, up to the message `exit`. Prints each answer after its label. */
export function pipedLines(pipe: { input: Readable; output: Writable }, interrupts: Interrupts): LineSource {
  const { input, output } = pipe
  const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  const lines = reader[Symbol.asyncIterator]()
  let next: Promise<LineResult> | undefined
  return {
    async read(label, _initial, signal) {
      if (label !== undefined) output.write(label)
      next ??= lines.next().then(({ done, value }) => (done ? { type: 'end' } : { type: 'line', text: value }))
      const result = await raceInterrupt(next, interrupts, signal)
      if (result.type === 'line') next = undefined // an interrupt or an abort does not consume the line
      if (label !== undefined) output.write(`${result.type === 'line' ? escapeLine(result.text) : ''}\n`)
      else if (result.type === 'line' && result.text.trim() === 'exit') return { type: 'end' }
      return result
    },
    close: () => reader.close(),
  }
}

async function raceInterrupt(
  next: Promise<LineResult>,
  interrupts: Interrupts,
  signal: AbortSignal | undefined,
): Promise<LineResult> {
  const { promise, resolve } = Promise.withResolvers<LineResult>()
  const stopListening = interrupts.listen(() => resolve({ type: 'interrupt' }))
  const abort = (): void => resolve({ type: 'aborted' })
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return await Promise.race([next, promise]).finally(() => {
    stopListening()
    signal?.removeEventListener('abort', abort)
  })
}
