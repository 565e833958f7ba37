// Starts a process that inherits only the given pipes from the host, and kills the process with its whole process
// group.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'

/** What a process is started with. */
export interface ProcessOptions {
  /** Program and arguments. */
  readonly command: readonly string[]
  /** The whole environment of the process. The environment of the host is not added. */
  readonly env: Readonly<Record<string, string>>
  /** Working directory. Default: that of the host. */
  readonly cwd?: string | undefined
  /** Everything the process can read on stdin. Default: nothing. */
  readonly input?: Uint8Array | undefined
  /** Handlers for what the process writes, by file descriptor: 1 is stdout, 2 is stderr. */
  readonly outputHandlers: ReadonlyMap<number, (chunk: Uint8Array) => void>
  /** Descriptors the host writes to while the process runs, with `RunningProcess.write`. */
  readonly writableDescriptors?: readonly number[] | undefined
  /** Bytes the process can read from further descriptors. */
  readonly descriptorInputs?: ReadonlyMap<number, Uint8Array> | undefined
  /** The process may leave children behind that hold its pipes open. Kill them when it exits instead of waiting for them. */
  readonly mayLeaveProcesses?: boolean | undefined
}

/** A started process. */
export interface RunningProcess {
  /** Writes text to a descriptor. Resolves when the process can read all of it or has ended. */
  write(descriptor: number, text: string): Promise<void>
  /** Kills the process and its whole process group. */
  stop(): void
  /** Resolves when the process has ended and its output has been read. `code` is undefined if a signal ended the process. */
  readonly ended: Promise<{ readonly code: number | undefined }>
}

/** How long to read the last output of a process whose pipes are held open by a child it left behind. */
const LAST_OUTPUT_MS = 200

/** Starts a process. Rejects when the program cannot be started. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { input, outputHandlers, descriptorInputs = [], mayLeaveProcesses = false } = options
  const child = await spawnChild(options)
  const { pid, stdio } = child
  for (const stream of stdio) stream?.on('error', () => {}) // the process may end before it has read or written everything
  const ended = new Promise<{ code: number | undefined }>((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? undefined }))
  })
  for (const [descriptor, onData] of outputHandlers) readable(stdio, descriptor).on('data', onData)
  for (const [descriptor, bytes] of [...descriptorInputs, [0, input] as const]) writable(stdio, descriptor).end(bytes)
  const stop = (): void => killGroup(pid)
  if (mayLeaveProcesses) {
    child.once('exit', () => {
      stop()
      setTimeout(() => {
        for (const stream of stdio) stream?.destroy()
      }, LAST_OUTPUT_MS)
    })
  }
  const write = (descriptor: number, text: string): Promise<void> =>
    new Promise((resolve) => writable(stdio, descriptor).write(text, () => resolve()))
  return { stop, ended, write }
}

type Pipes = readonly (Readable | Writable | null | undefined)[]

const readable = (stdio: Pipes, descriptor: number): Readable => stdio[descriptor] as Readable
const writable = (stdio: Pipes, descriptor: number): Writable => stdio[descriptor] as Writable

async function spawnChild(
  options: ProcessOptions,
): Promise<ChildProcess & { readonly pid: number; readonly stdio: Pipes }> {
  const { command, env, cwd, outputHandlers, writableDescriptors = [], descriptorInputs } = options
  const [program = '', ...args] = command
  const piped = new Set([
    0,
    1,
    2,
    ...outputHandlers.keys(),
    ...writableDescriptors,
    ...(descriptorInputs?.keys() ?? []),
  ])
  const inherited = new Set(findInheritableDescriptors())
  const nullDevice = openSync(devNull, 'r')
  try {
    const child = spawn(program, args, {
      env: { ...env },
      cwd,
      detached: true, // a session of its own: no terminal, and one process group to kill
      stdio: Array.from({ length: 1 + Math.max(...piped, ...inherited) }, (_, at) =>
        piped.has(at) ? 'pipe' : inherited.has(at) ? nullDevice : 'ignore',
      ),
    })
    if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve))
    return Object.assign(child, { pid: child.pid })
  } catch (cause) {
    throw new ToolwrightError('INTERNAL', `Program "${program}" could not be started: ${messageOf(cause)}`, { cause })
  } finally {
    closeSync(nullDevice)
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // the group has already ended
  }
}

/**
 * Finds the descriptors of this process that a child would inherit. Through one of them, code could read a file the host
 * has open. Node.js marks the descriptors it opens itself as close-on-exec, but not those it was started with, nor those
 * of native add-ons. `spawnChild` replaces each of these with the null device.
 */
function findInheritableDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((descriptor) => !isClosedOnExec(descriptor))
  } catch {
    return [] // not Linux
  }
}

function isClosedOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0
  } catch {
    return true // closed since it was listed
  }
}

const CLOSE_ON_EXEC = 0o2000000
