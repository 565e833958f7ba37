import { isRecord } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { CodeRequest } from '../../../engine/tool/code-executor.ts'
import { CALL_TOO_LARGE, CallBudget, MAX_CALL_BYTES } from './call-budget.ts'

/** Tool calls in progress. A call counts until the code can read its result. */
const MAX_CALLS_IN_PROGRESS = 256

/** Bytes of results the code has not read yet. */
const MAX_UNREAD = 64_000_000

/** Longer than the name of any tool. */
const MAX_NAME = 200

const NEWLINE = 10

/** How a `ToolChannel` reaches the tools and the code. */
interface ToolChannelOptions {
  /** Runs a tool through the dispatcher. */
  readonly callTool: NonNullable<CodeRequest['callTool']>
  /** Sends one line to the code. Resolves when the code can read it. */
  sendLine(line: string): Promise<void>
  /** Stops the run because the code violates the protocol or exceeds a limit. */
  stopRun(reason: string): void
}

/**
 * Tool calls of code in another process. The code writes each call as one line of JSON, `{ id, name, args }`, and reads
 * one line for each: `{ id, result }` or `{ id, error }`. The code is hostile: every line is checked and counted.
 */
export class ToolChannel {
  readonly #options: ToolChannelOptions
  readonly #budget = new CallBudget()
  #decoder = new TextDecoder()
  #lineText = ''
  #lineBytes = 0
  #callsInProgress = 0
  #unreadBytes = 0
  #isClosed = false

  constructor(options: ToolChannelOptions) {
    this.#options = options
  }

  /** Reads bytes that the code wrote. A line may arrive in any number of chunks. */
  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length && !this.#isClosed; ) {
      const newline = chunk.indexOf(NEWLINE, from)
      const end = newline < 0 ? chunk.length : newline
      this.#lineBytes += end - from
      if (this.#lineBytes > MAX_CALL_BYTES) {
        this.#stopRun(CALL_TOO_LARGE)
        return
      }
      this.#lineText += this.#decoder.decode(chunk.subarray(from, end), { stream: true })
      if (newline >= 0) this.#readLine()
      from = end + 1
    }
  }

  /** Closes the channel. Results of calls in progress are dropped. */
  close(): void {
    this.#isClosed = true
    this.#lineText = ''
  }

  #readLine(): void {
    const call = parseCall(this.#lineText + this.#decoder.decode())
    const overBudget = this.#budget.spend(this.#lineBytes)
    this.#lineText = ''
    this.#lineBytes = 0
    if (!call) this.#stopRun('a line on the tool channel is not a valid tool call')
    else if (overBudget) this.#stopRun(overBudget)
    else if (this.#callsInProgress >= MAX_CALLS_IN_PROGRESS) {
      this.#stopRun(`the code made more than ${MAX_CALLS_IN_PROGRESS} tool calls at one time`)
    } else void this.#runCall(call)
  }

  async #runCall(call: Call): Promise<void> {
    this.#callsInProgress++
    const line = await this.#callTool(call)
    if (this.#isClosed) return
    if (this.#unreadBytes > 0 && this.#unreadBytes + line.length > MAX_UNREAD) {
      this.#stopRun('the code does not read the results of its tool calls')
      return
    }
    this.#unreadBytes += line.length
    await this.#options.sendLine(`${line}\n`)
    this.#unreadBytes -= line.length
    this.#callsInProgress--
  }

  async #callTool({ id, name, args }: Call): Promise<string> {
    try {
      if (!isRecord(args)) throw new TypeError(`Tool ${JSON.stringify(name)} takes one object with named arguments.`)
      return JSON.stringify({ id, result: await this.#options.callTool(name, args) })
    } catch (error) {
      return JSON.stringify({ id, error: messageOf(error) })
    }
  }

  #stopRun(reason: string): void {
    this.close()
    this.#options.stopRun(reason)
  }
}

interface Call {
  readonly id: number
  readonly name: string
  readonly args: unknown
}

function parseCall(line: string): Call | undefined {
  try {
    const parsed: unknown = JSON.parse(line)
    if (!isRecord(parsed)) return undefined
    const { id, name, args } = parsed
    const isCall = typeof id === 'number' && typeof name === 'string' && name.length <= MAX_NAME
    return isCall ? { id, name, args } : undefined
  } catch {
    return undefined
  }
}
