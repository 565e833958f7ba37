// A live model that knows only what it was told. A client that resumes with a handle finds it as it was when the handle was made.
import type { JsonObject } from 'toolwright'
import type { GeminiLiveConnection, GeminiLiveServerOptions } from 'toolwright/testing'
import type { Random } from '../simulation/random.ts'

/** What the model knows: what was said, and which of its calls have no response. */
interface Memory {
  readonly lines: { readonly role: string; readonly text: string }[]
  readonly openCalls: Set<string>
  readonly closedCalls: Set<string>
}

/**
 * Answers `m7` with `re:m7`. Calls `work` first for every third message, but not if it knows that it has called it. A message that
 * arrives while it speaks interrupts it. `goesOn`: it ends its turn after a call, and replies when the result arrives.
 */
export class RememberingModel {
  readonly #random: Random
  readonly goesOn: boolean
  readonly #handles = new Map<string, Memory>()
  readonly #minds = new Map<GeminiLiveConnection, Mind>()
  /** What an honest client never does. */
  readonly problems: string[] = []
  /** Handles that the server refuses. */
  readonly rejectHandles: string[] = []
  /** Times that the model was asked to reply and had nothing to say. */
  idleTurns = 0
  calls = 0

  constructor(random: Random, goesOn: boolean) {
    this.#random = random
    this.goesOn = goesOn
  }

  get serverOptions(): GeminiLiveServerOptions {
    return {
      sendHandles: false,
      rejectHandles: this.rejectHandles,
      onConnection: (connection) => {
        const memory = this.#handles.get(connection.handle ?? '') ?? {
          lines: [],
          openCalls: new Set(),
          closedCalls: new Set(),
        }
        this.#minds.set(connection, new Mind(this, connection, copyOf(memory), this.#random.fork('mind')))
      },
      onMessage: (message, connection) => this.#minds.get(connection)?.receive(message),
    }
  }

  /** Sends a handle that restores this memory. */
  sendHandle(connection: GeminiLiveConnection, memory: Memory): void {
    const handle = connection.newHandle()
    this.#handles.set(handle, copyOf(memory))
    if (this.#random.chance(0.1)) this.rejectHandles.push(handle)
  }
}

/** The model on one connection. */
class Mind {
  readonly #model: RememberingModel
  readonly #connection: GeminiLiveConnection
  readonly #memory: Memory
  readonly #random: Random
  #turn = 0
  #isSpeaking = false

  constructor(model: RememberingModel, connection: GeminiLiveConnection, memory: Memory, random: Random) {
    this.#model = model
    this.#connection = connection
    this.#memory = memory
    this.#random = random
    this.#maybeSendHandle(0.5)
  }

  receive({ realtimeInput, clientContent, toolResponse }: JsonObject): void {
    if (isText(realtimeInput)) this.#hear('user', realtimeInput.text)
    const { turns = [], turnComplete } = (clientContent ?? {}) as ClientContent
    for (const { role, parts } of turns) this.#hear(role, parts.map(({ text }) => text).join('\n'))
    const { functionResponses = [] } = (toolResponse ?? {}) as ToolResponse
    const results = functionResponses.filter(({ willContinue }) => !willContinue)
    for (const response of results) this.#takeResponse(response)
    const hasResults = results.length > 0 && (this.#model.goesOn || this.#memory.openCalls.size === 0)
    if (isText(realtimeInput) || turnComplete || hasResults) void this.#reply()
  }

  #hear(role: string, text: string): void {
    this.#memory.lines.push({ role, text })
  }

  #takeResponse({ id, response }: { id: string; response: JsonObject }): void {
    const { openCalls, closedCalls } = this.#memory
    if (closedCalls.has(id)) return // a client cannot know whether a handle covers the response
    if (!openCalls.delete(id)) this.#model.problems.push(`A response to call ${id}, which the model does not know.`)
    closedCalls.add(id)
    this.#hear('user', `[Result of work: ${JSON.stringify(response)}]`)
  }

  async #reply(): Promise<void> {
    const turn = ++this.#turn
    if (this.#isSpeaking) this.#interrupt()
    if (!(await this.#isStill(turn))) return
    this.#maybeSendHandle(0.1)
    const open = this.#unanswered()
    const uncalled = open.filter((n) => n % 3 === 0 && !this.#knows('[Called work with', n))
    if (uncalled.length > 0) return this.#call(uncalled)
    const ready = open.filter(
      (n) => n % 3 !== 0 || this.#knows('[Result of work:', n) || this.#knows('has arrived:', n),
    )
    if (open.length > 0 && ready.length === 0) return // it waits for results
    if (ready.length === 0) this.#model.idleTurns++
    this.#isSpeaking = true
    for (const text of ready.length > 0 ? ready.map((n) => `re:m${n}.`) : ['ok.']) {
      this.#connection.say(text)
      this.#hear('model', text)
      if (!(await this.#isStill(turn))) return
    }
    this.#isSpeaking = false
    this.#connection.generationComplete()
    this.#connection.turnComplete()
    this.#maybeSendHandle(0.5)
  }

  #interrupt(): void {
    this.#isSpeaking = false
    this.#connection.interrupted()
    this.#connection.turnComplete()
  }

  #call(messages: readonly number[]): void {
    const calls = messages.map((n) => ({ id: `call-${++this.#model.calls}`, name: 'work', args: { n } }))
    for (const { id, args } of calls) {
      this.#memory.openCalls.add(id)
      this.#hear('model', `[Called work with ${JSON.stringify(args)}]`)
    }
    this.#connection.call(calls)
    if (this.#model.goesOn) this.#connection.turnComplete()
    this.#maybeSendHandle(0.3)
  }

  #unanswered(): number[] {
    const said = (role: string, word: RegExp): number[] =>
      this.#memory.lines.filter((line) => line.role === role).flatMap(({ text }) => numbersIn(text, word))
    const answered = new Set(said('model', /re:m(\d+)/g))
    return [...new Set(said('user', /(?<!re:)\bm(\d+)/g))].filter((n) => !answered.has(n))
  }

  /** Does a line tell of the work for this message? */
  #knows(what: string, n: number): boolean {
    const lines = this.#memory.lines.flatMap(({ text }) => text.split('\n'))
    return lines.some((line) => line.includes(what) && new RegExp(`"n":${n}\\b`).test(line))
  }

  /** Thinks for a moment. False if something else has happened meanwhile. */
  async #isStill(turn: number): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, this.#random.int(4)))
    return turn === this.#turn && this.#connection.isOpen
  }

  #maybeSendHandle(probability: number): void {
    if (this.#random.chance(probability)) this.#model.sendHandle(this.#connection, this.#memory)
  }
}

type ClientContent = { turns?: { role: string; parts: { text: string }[] }[]; turnComplete?: boolean }
type ToolResponse = { functionResponses?: { id: string; response: JsonObject; willContinue?: boolean }[] }

function isText(input: unknown): input is { text: string } {
  return typeof (input as { text?: unknown } | undefined)?.text === 'string'
}

function numbersIn(text: string, word: RegExp): number[] {
  return [...text.matchAll(word)].map(([, n]) => Number(n))
}

function copyOf({ lines, openCalls, closedCalls }: Memory): Memory {
  return { lines: [...lines], openCalls: new Set(openCalls), closedCalls: new Set(closedCalls) }
}
