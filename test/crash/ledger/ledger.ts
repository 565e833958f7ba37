import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LedgerLine } from './ledger-line.ts'

/** The ledger of a test: a process that writes down what the outside world sees. */
export interface Ledger {
  /** Where victims connect to. */
  readonly socket: string
  /** All lines so far, in order. */
  lines(): readonly LedgerLine[]
  /** Forgets all lines. No victim may run. */
  clear(): void
  /** Ends the process. */
  [Symbol.asyncDispose](): Promise<void>
}

const PROGRAM = fileURLToPath(new URL('./ledger-process.ts', import.meta.url))

/** Starts a ledger whose file is in `folder`. */
export async function startLedger(folder: string): Promise<Ledger> {
  const [socket, file] = [join(folder, 'ledger.socket'), join(folder, 'ledger.jsonl')]
  const child = fork(PROGRAM, [socket, file])
  await once(child, 'message')
  return {
    socket,
    lines: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LedgerLine),
    clear: () => truncateSync(file),
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
