// Processes that run a model's code: started with nothing of ours but the pipes they are given, and ended whole.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { messageOf, ToolwrightError } from '../../error/error.ts'

export interface StartOptions {
  readonly command: readonly string[]
  /** All it finds in its environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
  /** All it can read on stdin. */
  readonly input?: Uint8Array | undefined
  /** What it writes, by descriptor; 1 and 2 among them. */
  readonly listen: ReadonlyMap<number, (chunk: Uint8Array) => void>
  /** Descriptors it reads from as we write. */
  readonly speak?: readonly number[] | undefined
  /** Descriptors it reads to the end at once. */
  readonly give?: ReadonlyMap<number, Uint8Array> | undefined
  /** It may leave something behind that holds its pipes: do not wait for that. */
  readonly mayLeave?: boolean | undefined
}

export interface Running {
  /** Resolves when the process can read all of it, or never will. */
  write(descriptor: number, text: string): Promise<void>
  /** Ends it and everything of its process group. */
  stop(): void
  /** When it has ended and all it wrote has been read. The code is undefined when a signal ended it. */
  readonly ended: Promise<{ readonly code: number | undefined }>
}

/** How long what was written last is waited for when something else holds the pipes. */
const LAST_WORDS_MS = 200

export async function start(options: StartOptions): Promise<Running> {
  const { input, listen, give = [], mayLeave = false } = options
  const child = await spawned(options)
  const { pid, stdio } = child
  for (const stream of stdio) stream?.on('error', () => {}) // it may end before it has read or written all
  const ended = new Promise<{ code: number | undefined }>((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? undefined }))
  })
  for (const [descriptor, hear] of listen) readable(stdio, descriptor).on('data', hear)
  for (const [descriptor, bytes] of [...give, [0, input] as const]) writable(stdio, descriptor).end(bytes)
  const stop = (): void => endGroup(pid)
  if (mayLeave) {
    child.once('exit', () => {
      stop()
      setTimeout(() => {
        for (const stream of stdio) stream?.destroy()
      }, LAST_WORDS_MS)
    })
  }
  const write = (descriptor: number, text: string): Promise<void> =>
    new Promise((resolve) => writable(stdio, descriptor).write(text, () => resolve()))
  return { stop, ended, write }
}

type Pipes = readonly (Readable | Writable | null | undefined)[]

const readable = (stdio: Pipes, descriptor: number): Readable => stdio[descriptor] as Readable
const writable = (stdio: Pipes, descriptor: number): Writable => stdio[descriptor] as Writable

async function spawned(options: StartOptions): Promise<ChildProcess & { readonly pid: number; readonly stdio: Pipes }> {
  const { command, env, cwd, listen, speak = [], give } = options
  const [program = '', ...args] = command
  const used = new Set([0, 1, 2, ...listen.keys(), ...speak, ...(give?.keys() ?? [])])
  const covered = new Set(inheritable())
  const nothing = openSync(devNull, 'r')
  try {
    const child = spawn(program, args, {
      env: { ...env },
      cwd,
      detached: true, // a session of its own: no terminal, and one group to end
      stdio: Array.from({ length: 1 + Math.max(...used, ...covered) }, (_, at) =>
        used.has(at) ? 'pipe' : covered.has(at) ? nothing : 'ignore',
      ),
    })
    if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve))
    return Object.assign(child, { pid: child.pid })
  } catch (cause) {
    throw new ToolwrightError('INTERNAL', `${program} could not be started: ${messageOf(cause)}`, { cause })
  } finally {
    closeSync(nothing)
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it has ended already
  }
}

/**
 * Descriptors of this process that a child would inherit. Node opens its own so that none does, but not those it was
 * started with, nor those of native add-ons: a child gets nothing in their place.
 */
function inheritable(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((descriptor) => !closesOnExec(descriptor))
  } catch {
    return [] // no Linux
  }
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0
  } catch {
    return true // closed since
  }
}

const CLOSE_ON_EXEC = 0o2000000

/** Runs a program of ours for what it prints, up to MAX_ANSWER bytes of each stream. */
export async function ask(command: readonly string[], env: Readonly<Record<string, string>>): Promise<Answer> {
  const [out, err] = [new FirstBytes(), new FirstBytes()]
  const listen = new Map([
    [1, (chunk: Uint8Array) => out.push(chunk)],
    [2, (chunk: Uint8Array) => err.push(chunk)],
  ])
  const running = await start({ command, env, listen, mayLeave: true })
  const timer = setTimeout(running.stop, ASK_MS)
  const { code } = await running.ended.finally(() => clearTimeout(timer))
  return { code, out: out.toString(), err: err.toString() }
}

const ASK_MS = 20_000
const MAX_ANSWER = 100_000

class FirstBytes {
  readonly #chunks: Uint8Array[] = []
  #room = MAX_ANSWER

  push(chunk: Uint8Array): void {
    if (this.#room > 0) this.#chunks.push(chunk.slice(0, this.#room))
    this.#room -= chunk.length
  }

  toString(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

export interface Answer {
  readonly code: number | undefined
  readonly out: string
  readonly err: string
}
