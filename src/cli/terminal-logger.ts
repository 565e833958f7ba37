import type { Logger } from '../dispatch/host.ts'
import { escapeText } from './screen/escape.ts'
import type { Terminal } from './terminal.ts'

/** Drops the log: the rendered events already show every failure. */
export const silentLogger: Logger = { warn: () => {}, error: () => {} }

/** Writes the log to standard error. */
export function terminalLogger({ errors }: Pick<Terminal, 'errors'>): Logger {
  const write = (message: string, detail: unknown): void => {
    const stack = detail instanceof Error && detail.stack ? `${detail.stack}\n` : ''
    errors.write(escapeText(`${message}\n${stack}`))
  }
  return { warn: write, error: write }
}
