import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Interrupts } from './interrupts.ts'
import { inOneLine } from './visible.ts'

/** What came when a line was asked for: one, the end of them, or Ctrl-C. */
export type Heard =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'interrupt' }

/** Where lines come from, one at a time. */
export interface Lines {
  /** The next message; or, with a question's prompt, the answer to it. Where it can be edited, `initial` is there already. */
  read(question?: string, initial?: string): Promise<Heard>
  close(): void
}

/** Lines that are known from the start. */
export function knownLines(texts: readonly string[]): Lines {
  const rest = texts.values()
  return {
    async read() {
      const { value: text } = rest.next()
      return text === undefined ? { type: 'end' } : { type: 'line', text }
    },
    close: () => {},
  }
}

/** Lines from a file or another program, up to a message `exit`. Nobody saw an answer being typed, so it is shown. */
export function pipedLines(pipe: { input: Readable; output: Writable }, interrupts: Interrupts): Lines {
  const { input, output } = pipe
  const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  const lines = reader[Symbol.asyncIterator]()
  let next: Promise<Heard> | undefined
  return {
    async read(question) {
      if (question !== undefined) output.write(question)
      next ??= lines.next().then(({ done, value }) => (done ? { type: 'end' } : { type: 'line', text: value }))
      const heard = await orInterrupt(next, interrupts)
      if (heard.type === 'line') next = undefined // after an interrupt the same line is still to come
      if (question !== undefined) output.write(`${heard.type === 'line' ? inOneLine(heard.text) : ''}\n`)
      else if (heard.type === 'line' && heard.text.trim() === 'exit') return { type: 'end' }
      return heard
    },
    close: () => reader.close(),
  }
}

async function orInterrupt(next: Promise<Heard>, interrupts: Interrupts): Promise<Heard> {
  let forget = (): void => {}
  const interrupt = new Promise<Heard>((resolve) => {
    forget = interrupts.listen(() => resolve({ type: 'interrupt' }))
  })
  return await Promise.race([next, interrupt]).finally(forget)
}
