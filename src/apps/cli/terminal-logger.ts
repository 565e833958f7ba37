import { escapeText } from '../../core/base/escape.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { Terminal } from './terminal.ts'

/**
 * Writes each warning to standard error once, such as that the tools of a server are left out. Drops errors: the rendered
 * events already show every failure.
 */
export function warningLogger({ errors }: Pick<Terminal, 'errors'>): Logger {
  const written = new Set<string>()
  const warn = (message: string): void => {
    if (written.has(message)) return
    written.add(message)
    errors.write(escapeText(`${message}\n`))
  }
  return { warn, error: () => {} }
}

/** Writes the log to standard error, with the stacks of errors unless `showsStacks` is false. */
export function terminalLogger(
  { errors }: Pick<Terminal, 'errors'>,
  { showsStacks = true }: { readonly showsStacks?: boolean } = {},
): Logger {
  const write = (message: string, detail: unknown): void => {
    const stack = showsStacks && detail instanceof Error && detail.stack ? `${detail.stack}\n` : ''
    errors.write(escapeText(`${message}\n${stack}`))
  }
  return { warn: write, error: write }
}
