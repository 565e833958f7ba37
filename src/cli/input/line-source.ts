import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { escapeLine } from '../screen/escape.ts'
import type { Interrupts } from './interrupts.ts'

/** The result of reading a line: the line, the end of the input, or Ctrl+C. */
export type LineResult =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'interrupt' }

/** Reads lines one at a time. */
export interface LineSource {
  /**
   * Reads the next message, or, with the label of a request prompt, the answer to it. `initial` is put on a line that the
   * user can edit.
   */
  read(label?: string, initial?: string): Promise<LineResult>
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
    async read(label) {
      if (label !== undefined) output.write(label)
      next ??= lines.next().then(({ done, value }) => (done ? { type: 'end' } : { type: 'line', text: value }))
      const result = await raceInterrupt(next, interrupts)
      if (result.type === 'line') next = undefined // an interrupt does not consume the line
      if (label !== undefined) output.write(`${result.type === 'line' ? escapeLine(result.text) : ''}\n`)
      else if (result.type === 'line' && result.text.trim() === 'exit') return { type: 'end' }
      return result
    },
    close: () => reader.close(),
  }
}

async function raceInterrupt(next: Promise<LineResult>, interrupts: Interrupts): Promise<LineResult> {
  let stopListening = (): void => {}
  const interrupt = new Promise<LineResult>((resolve) => {
    stopListening = interrupts.listen(() => resolve({ type: 'interrupt' }))
  })
  return await Promise.race([next, interrupt]).finally(stopListening)
}
