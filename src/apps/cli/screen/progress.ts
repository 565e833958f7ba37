import { escapeLine } from '../../../core/base/escape.ts'
import type { Terminal } from '../terminal.ts'
import { Screen } from './screen.ts'

/** Work that ends sooner shows nothing. */
const SHOWN_AFTER_MS = 1_000

/**
 * Runs work that may take long. After a second, standard error shows what the command waits for: a spinner in a terminal, else
 * one line.
 */
export async function withProgress<T>(
  { output, errors, env }: Pick<Terminal, 'output' | 'errors' | 'env'>,
  label: string,
  work: () => Promise<T>,
): Promise<T> {
  const screen = new Screen({ output: errors, errors: output, env })
  const text = escapeLine(label)
  const since = Date.now()
  const timer = setTimeout(() => {
    if (screen.isLive) screen.status(text, since)
    else screen.write(`… ${text}\n`)
  }, SHOWN_AFTER_MS)
  timer.unref()
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    screen.status(undefined)
  }
}
