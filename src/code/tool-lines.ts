import { isRecord } from '../base/json.ts'
import { messageOf } from '../error/error.ts'
import type { CodeRequest } from '../tool/code-executor.ts'

/** The longest request, and the most at one time: more is a fault or an attack. */
const MAX_LINE = 1_000_000
const MAX_WAITING = 256

export interface ToolLinesOptions {
  readonly callTool: NonNullable<CodeRequest['callTool']>
  /** Sends one line back. */
  reply(line: string): void
  /** The code does not speak our language: it should be stopped. */
  refuse(reason: string): void
}

/** Tools for code in another process: it writes requests as lines of JSON and gets a line for each. */
export class ToolLines {
  readonly #options: ToolLinesOptions
  readonly #decoder = new TextDecoder()
  #text = ''
  #waiting = 0
  #isOver = false

  constructor(options: ToolLinesOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    if (this.#isOver) return
    const lines = (this.#text + this.#decoder.decode(chunk, { stream: true })).split('\n')
    this.#text = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
    if (this.#text.length > MAX_LINE) this.#refuse(`a call of a tool is longer than ${MAX_LINE} characters`)
  }

  /** What tools answer from now on is not sent. */
  end(): void {
    this.#isOver = true
  }

  #line(line: string): void {
    if (this.#isOver) return
    const request = line.length > MAX_LINE ? undefined : parse(line)
    if (!request) this.#refuse('a call of a tool cannot be read')
    else if (this.#waiting >= MAX_WAITING) this.#refuse(`more than ${MAX_WAITING} tools were called at one time`)
    else void this.#call(request)
  }

  async #call({ id, name, args }: Request): Promise<void> {
    this.#waiting++
    const answer = await this.#answer(id, name, args)
    this.#waiting--
    if (!this.#isOver) this.#options.reply(`${answer}\n`)
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
    this.#isOver = true
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
    return typeof id === 'number' && typeof name === 'string' ? { id, name, args } : undefined
  } catch {
    return undefined
  }
}
