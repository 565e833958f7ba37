import type { Terminal } from '../terminal.ts'
import { createInterrupts } from './interrupts.ts'

/** Resolves `requested` on the first signal. The next one ends the process. */
export function listenForStop(terminal: Terminal): { readonly requested: Promise<void>; close(): void } {
  const { promise: requested, resolve } = Promise.withResolvers<void>()
  let isStopping = false
  const onUnhandled = (): void => {
    if (isStopping) terminal.exit()
    isStopping = true
    resolve()
  }
  const interrupts = createInterrupts(terminal.signals, { onUnhandled, names: ['SIGINT', 'SIGTERM'] })
  return { requested, close: () => interrupts.close() }
}
