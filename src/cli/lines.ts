import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Interrupts } from './interrupts.ts'

/** Lines from a file or another program, to their end; Ctrl-C while waiting for one ends them too. */
export async function* pipedLines(input: Readable, interrupts: Interrupts): AsyncGenerator<string, void, undefined> {
  const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  const lines = reader[Symbol.asyncIterator]()
  try {
    for (;;) {
      const forget = interrupts.listen(() => reader.close())
      const next = await lines.next().finally(forget)
      if (next.done) return
      yield next.value
    }
  } finally {
    reader.close()
  }
}

/** Lines typed at a prompt, until Ctrl-D or Ctrl-C. */
export async function* typedLines(
  terminal: { readonly input: Readable; readonly output: Writable; readonly prompt: string },
  interrupts: Interrupts,
): AsyncGenerator<string, void, undefined> {
  const memory: Memory = { history: [], rest: '' }
  for (;;) {
    const lines = await ask(terminal, memory, interrupts)
    if (!lines) return
    yield* lines
  }
}

/** Lines up to one that says `exit`. */
export async function* untilExit(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  for await (const line of lines) {
    if (line.trim() === 'exit') return
    yield line
  }
}

/** What outlives a question: earlier lines, and what was typed after the last newline of a paste. */
interface Memory {
  history: string[]
  rest: string
}

/**
 * Asks once. The reader lives only as long as the question: between questions the terminal is in its usual mode, where
 * Ctrl-C is a signal that reaches a running turn. A paste gives several lines.
 */
async function ask(
  { input, output, prompt }: { readonly input: Readable; readonly output: Writable; readonly prompt: string },
  memory: Memory,
  interrupts: Interrupts,
): Promise<string[] | undefined> {
  const reader = createInterface({ input, output, prompt, terminal: true, history: memory.history })
  const lines: string[] = []
  let isOver = false
  const forget = interrupts.listen(() => reader.close())
  await new Promise<void>((resolve) => {
    reader.on('line', (line) => {
      lines.push(line)
      resolve()
    })
    reader.on('history', (history) => {
      memory.history = history
    })
    reader.on('SIGINT', () => reader.close())
    reader.on('close', () => {
      isOver = true
      resolve()
    })
    reader.prompt()
    if (memory.rest) reader.write(memory.rest)
  })
  forget()
  if (lines.length === 0 && isOver) {
    output.write('\n') // the shell's prompt gets a line of its own
    return undefined
  }
  memory.rest = isOver ? '' : reader.line
  reader.close()
  if (memory.rest) output.write('\n')
  return lines
}
