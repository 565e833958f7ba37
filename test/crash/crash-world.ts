// What the processes of a crash test share: a folder, their bundled program, and the ledger that outlives them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildProgram } from './build-program.ts'
import type { KillPoint } from './kill-points.ts'
import { type Ledger, startLedger } from './ledger/ledger.ts'
import { takeTurns } from './take-turns.ts'
import type { AppendOptions } from './victim/append-many.ts'
import type { Command, ConverseCommand } from './victim/program.ts'

/** How a process has ended. */
export type Ending =
  /** It has killed itself, here. */
  | { readonly type: 'died'; readonly diedAt: string }
  /** It was killed by another process. */
  | { readonly type: 'killed' }
  /** It has done all of its work, and came to these points. */
  | { readonly type: 'survived'; readonly survived: readonly KillPoint[]; readonly steps: number }

/** A place for crash tests. */
export interface CrashWorld {
  /** Where SQLite files go. */
  readonly folder: string
  /** The bundled program. */
  readonly program: string
  readonly ledger: Ledger
  /** Runs a process to its end. Throws if it fails. `killAfterMs`: when it is killed, unless it ends before. */
  run(command: Omit<ConverseCommand, 'ledger'>, killAfterMs?: number): Promise<Ending>
  /** Runs processes that append to one session, all at the same time. Throws if one fails. */
  append(options: Omit<AppendOptions, 'name'>): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Processes that run at the same time. More of them would only wait for each other. */
const MAX_PROCESSES = 2

/** Builds the program, and starts the ledger. */
export async function createCrashWorld(): Promise<CrashWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-crash-'))
  const program = await buildProgram(folder, new URL('./victim/program.ts', import.meta.url))
  const ledger = await startLedger(folder)
  const inTurn = takeTurns(MAX_PROCESSES)
  return {
    folder,
    program,
    ledger,
    run: (command, killAfterMs) =>
      inTurn(() => runProcess(program, { ...command, ledger: ledger.socket }, { folder, killAfterMs })),
    async append(options) {
      const names = Array.from({ length: options.processes }, (_, at) => `p${at}`)
      const start = (name: string): Promise<unknown> =>
        runProcess(program, { type: 'append', ...options, name }, { folder })
      await Promise.all(names.map(start))
    },
    async [Symbol.asyncDispose]() {
      await ledger[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function runProcess(
  program: string,
  command: Command,
  { folder, killAfterMs }: { readonly folder: string; readonly killAfterMs?: number | undefined },
): Promise<Ending> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, JSON.stringify(command)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
  })
  if (child.pid !== undefined) setPriority(child.pid, 10) // hundreds of processes must not starve the browser tests beside them
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text))
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  if (code === 0) return { type: 'survived', ...(output === '' ? { survived: [], steps: 0 } : JSON.parse(output)) }
  if (signal !== 'SIGKILL') throw new Error(`A process ended with ${code ?? signal}: ${output}${errors}`)
  return output === '' ? { type: 'killed' } : { type: 'died', ...JSON.parse(output) }
}
