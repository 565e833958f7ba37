// The process of a local MCP server. It is the leader of a process group of its own, so that closing it also ends the
// processes it started.
import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { LineReader } from './connection/line-reader.ts'
import { EXIT_MS, MAX_STDERR } from './limits.ts'
import { forgetGroup, killGroup, signalGroup, trackGroup } from './local/process-groups.ts'
import { type StartedCommand, windowsCommand } from './local/windows-command.ts'

/** What a local MCP server is started with. */
interface ServerProcessOptions {
  /** The program. It is started without a shell. */
  readonly command: string
  /** Its arguments. */
  readonly args: readonly string[]
  /** Environment variables, besides PATH, HOME and the like. */
  readonly env: Readonly<Record<string, string>>
  /** The working directory. Default: that of this process. */
  readonly cwd: string | undefined
}

/** The environment variables that a server inherits. All others may hold secrets of this process. */
const INHERITED = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER']
const INHERITED_ON_WINDOWS =
  'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE WINDIR'

function inheritedVariables(): Record<string, string> {
  const names = process.platform === 'win32' ? INHERITED_ON_WINDOWS.split(' ') : INHERITED
  const variables = names.map((name) => [name, process.env[name]] as const)
  return Object.fromEntries(variables.filter((one): one is readonly [string, string] => one[1] !== undefined))
}

function startedCommand({ command, args, cwd }: ServerProcessOptions, env: Record<string, string>): StartedCommand {
  if (process.platform !== 'win32') return { command, args, isVerbatim: false }
  const { existsSync: exists } = process.getBuiltinModule('node:fs')
  return windowsCommand(command, args, { env, cwd: cwd ?? process.cwd(), exists })
}

/** The transport to an MCP server that this process starts. */
export class ServerProcess implements Transport {
  /** Called when the process has ended and its last output is read. */
  onclose?: () => void
  /** Called with errors of the process and its pipes. */
  onerror?: (error: Error) => void
  /** Called with each message of the server. */
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ServerProcessOptions
  readonly #lines: LineReader
  #child: ChildProcess | undefined
  #stderr = ''
  #exit: string | undefined
  #drained: Promise<void> | undefined
  /** Resolved when the process has ended and its last output is read. */
  #ended: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(options: ServerProcessOptions) {
    this.#options = options
    this.#lines = new LineReader((line) => this.#read(line))
  }

  /** The id of the process. Null before it is started. The MCP client recognises a stdio transport by it. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }
  /** The MCP client recognises a stdio transport by this member. */
  get stderr(): Readable | null {
    return this.#child?.stderr ?? null
  }
  /** The last output on stderr, and how the process ended. For the operator: it may hold anything the server knows. */
  get report(): string {
    return [this.#exit, this.#stderr.trim()].filter(Boolean).join('\n')
  }

  /** Starts the process. Rejects if the program cannot be started. */
  start(): Promise<void> {
    // not imported: bundlers for browsers and workers would fail
    const { spawn } = process.getBuiltinModule('node:child_process')
    const { cwd } = this.#options
    const env = { ...inheritedVariables(), ...this.#options.env }
    return new Promise((resolve, reject) => {
      const { command, args, isVerbatim } = startedCommand(this.#options, env)
      const child = spawn(command, args, {
        env,
        ...(cwd !== undefined && { cwd }),
        stdio: 'pipe',
        detached: process.platform !== 'win32', // a process group of its own
        windowsHide: true,
        windowsVerbatimArguments: isVerbatim,
      })
      this.#child = child
      if (child.pid !== undefined) trackGroup(child.pid)
      child.once('spawn', () => {
        this.#allowExit()
        resolve()
      })
      child.once('error', (error) => {
        reject(error)
        this.onerror?.(error)
      })
      child.once('exit', (code, signal) => {
        this.#exit = signal ? `It was ended by ${signal}.` : `It exited with code ${code}.`
        killGroup(child.pid) // children of the server may still run
        const forgotten = child.pid === undefined ? undefined : forgetGroup(child.pid)
        // the last answer may still be in the pipe; a process that left the group may hold the pipe open
        const closed = new Promise<void>((done) => child.once('close', () => done()))
        this.#ended = within(closed, EXIT_MS).then(async () => {
          this.onclose?.()
          await forgotten
        })
      })
      for (const stream of [child.stdin, child.stdout, child.stderr]) {
        stream.on('error', (error) => this.onerror?.(error)) // such as EPIPE: the process has ended
      }
      child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
      child.stderr.on('data', (chunk: Buffer) => {
        this.#stderr = (this.#stderr + chunk.toString('utf8').slice(-MAX_STDERR)).slice(-MAX_STDERR)
      })
    })
  }

  #receive(chunk: Buffer): void {
    try {
      const rest = this.#lines.add(chunk)
      if (rest) void this.#readRest(rest)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Reads no more of the pipe until a flood of messages is handled. */
  async #readRest(rest: Promise<void>): Promise<void> {
    this.#child?.stdout?.pause()
    try {
      await rest
    } catch (error) {
      this.#fail(error)
    }
    this.#child?.stdout?.resume()
  }

  #fail(error: unknown): void {
    this.onerror?.(error as Error)
    killGroup(this.#child?.pid)
  }

  #read(line: string): void {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      return // programs print banners and warnings to stdout
    }
    if (isRecord(message)) this.onmessage?.(repaired(message) as JSONRPCMessage) // the client validates it
  }

  /** Writes a message. Resolves when the process can take more. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable)
      throw Object.assign(new Error('The process of the MCP server has ended.'), { code: 'NOT_CONNECTED' })
    if (!stdin.write(`${JSON.stringify(message)}\n`)) await this.#drain(stdin)
  }

  /** Waits until the process has read what was written. All messages share one wait. */
  #drain(stdin: Writable): Promise<void> {
    this.#drained ??= new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off('drain', done).off('close', done)
        this.#drained = undefined
        resolve()
      }
      stdin.on('drain', done).on('close', done)
    })
    return this.#drained
  }

  /**
   * Lets this process exit although the server runs. Then the server is killed. A call that waits for the server keeps this
   * process running by its timer.
   */
  #allowExit(): void {
    for (const handle of this.#handles()) handle.unref?.()
  }
  #handles(): Handle[] {
    const child = this.#child
    return child ? [child, child.stdin, child.stdout, child.stderr].map((one) => one as unknown as Handle) : []
  }

  /** Ends the process and all processes it started: closes its stdin, then SIGTERM, then SIGKILL. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    const child = this.#child
    if (!child?.pid) return
    if (!hasExited(child)) {
      for (const handle of this.#handles()) handle.ref?.() // until it has exited
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      child.stdin?.end()
      if (!(await within(exited, EXIT_MS))) signalGroup(child.pid, 'SIGTERM')
      if (!(await within(exited, EXIT_MS))) killGroup(child.pid)
      await exited
    }
    for (const stream of [child.stdin, child.stdout, child.stderr] as (Writable | Readable)[]) stream.destroy()
    await this.#ended
  }
}

/** A response that is not valid JSON-RPC becomes an error response, so that its request does not wait for its timeout. */
function repaired(message: JsonObject): JsonObject {
  const { id, method, result, error } = message
  if (method !== undefined || id === undefined) return message
  if (isRecord(result) && error === undefined) return message
  const isError = isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string'
  if (isError && result === undefined) return message
  const problem = 'The MCP server sent a response that is not valid JSON-RPC.'
  return { jsonrpc: '2.0', id, error: { code: -32603, message: problem } }
}

interface Handle {
  ref?(): void
  unref?(): void
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Waits for the promise at most `ms` milliseconds. Returns whether it is resolved. */
async function within(done: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  return await Promise.race([done.then(() => true), late]).finally(() => clearTimeout(timer))
}
