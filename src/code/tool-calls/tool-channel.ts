import { isRecord } from '../../base/json.ts'
import { messageOf } from '../../error/error.ts'
import type { CodeRequest } from '../../tool/code-executor.ts'
import { CallBudget, MAX_CALL_BYTES } from './call-budget.ts'

/** Calls at one time. A call counts until the code can read its answer. */
const MAX_WAITING = 256

/** Answers the code has not read yet. */
const MAX_UNREAD = 64_000_000

/** Longer than the name of any tool. */
const MAX_NAME = 200

const NEWLINE = 10

export interface ToolLinesOptions {
  readonly callTool: NonNullable<CodeRequest['callTool']>
  /** Sends one line back. Resolves when the code can read it. */
  reply(line: string): Promise<void>
  /** Stops the run: the code does not follow the protocol, or sends more than it may. */
  refuse(reason: string): void
}

/** Tools for code in another process: it writes requests as lines of JSON and gets a line for each. */
export class ToolLines {
  readonly #options: ToolLinesOptions
  readonly #budget = new CallBudget()
  #decoder = new TextDecoder()
  #text = ''
  #bytes = 0
  #waiting = 0
  #unread = 0
  #isOver = false

  constructor(options: ToolLinesOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length && !this.#isOver; ) {
      const newline = chunk.indexOf(NEWLINE, from)
      const end = newline < 0 ? chunk.length : newline
      this.#bytes += end - from
      if (this.#bytes > MAX_CALL_BYTES) {
        this.#refuse(`a tool call is larger than ${MAX_CALL_BYTES} bytes`)
        return
      }
      this.#text += this.#decoder.decode(chunk.subarray(from, end), { stream: true })
      if (newline >= 0) this.#line()
      from = end + 1
    }
  }

  /** What tools answer from now on is not sent. */
  end(): void {
    this.#isOver = true
    this.#text = ''
  }

  #line(): void {
    const request = parse(this.#text + this.#decoder.decode())
    const over = this.#budget.spend(this.#bytes)
    this.#text = ''
    this.#bytes = 0
    if (!request) this.#refuse('a call of a tool cannot be read')
    else if (over) this.#refuse(over)
    else if (this.#waiting >= MAX_WAITING) this.#refuse(`more than ${MAX_WAITING} tools were called at one time`)
    else void this.#call(request)
  }

  async #call({ id, name, args }: Request): Promise<void> {
    this.#waiting++
    const answer = await this.#answer(id, name, args)
    if (this.#isOver) return
    if (this.#unread > 0 && this.#unread + answer.length > MAX_UNREAD) {
      this.#refuse('it does not read the answers of its tools')
      return
    }
    this.#unread += answer.length
    await this.#options.reply(`${answer}\n`)
    this.#unread -= answer.length
    this.#waiting--
  }

  async #answer(id: number, name: string, args: unknown): Promise<string> {
    try {
      if (!isRecord(args)) throw new TypeError(`${name} takes one object with its arguments`)
      return JSON.stringify({ id, result: await this.#options.callTool(name, args) })
    } catch (error) {
      return JSON.stringify({ id, error: messageOf(error) })
    }
  }

  #refuse(reason: string): void {
    this.end()
    this.#options.refuse(reason)
  }
}

interface Request {
  readonly id: number
  readonly name: string
  readonly args: unknown
}

function parse(line: string): Request | undefined {
  try {
    const read: unknown = JSON.parse(line)
    if (!isRecord(read)) return undefined
    const { id, name, args } = read
    const isCall = typeof id === 'number' && typeof name === 'string' && name.length <= MAX_NAME
    return isCall ? { id, name, args } : undefined
  } catch {
    return undefined
  }
}
