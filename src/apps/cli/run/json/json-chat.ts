import { escapeJson } from '../../../../core/base/escape.ts'
import { messageOf, ToolwrightError } from '../../../../core/error/error.ts'
import type { PendingRequest } from '../../../../core/event/pending-request.ts'
import type { Run } from '../../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../../engine/runner/runner.ts'
import { EventWriter } from '../../../server/wire/event-writer.ts'
import { nextBackgroundRun } from '../../chat/background-run.ts'
import type { Interrupts } from '../../input/interrupts.ts'
import type { LineSource } from '../../input/line-source.ts'
import type { Output } from '../../screen/screen.ts'
import { readJsonInput, toAnswerMessage } from './json-input.ts'

/** Options of `jsonChat`. */
interface JsonChatOptions {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to continue. Default: a new one. */
  readonly sessionId?: string | undefined
  /** Where lines are written. */
  readonly output: Output
  /** Ctrl+C cancels the run. */
  readonly interrupts: Interrupts
}

/** How a turn ended. */
type TurnStatus = 'completed' | 'paused' | 'cancelled' | 'failed'

/** What the turns ended with. */
interface JsonChatResult {
  /** The status of each turn. */
  readonly statuses: readonly TurnStatus[]
  /** The last `end` line lists an open request. */
  readonly hasOpenRequests: boolean
}

/** The line after the events of a turn. */
interface TurnEnd {
  readonly sessionId?: string | undefined
  readonly invocationId?: string | undefined
  readonly status: TurnStatus
  readonly error?: { readonly code: string; readonly message: string } | undefined
  /** The open requests of the session. */
  readonly pending: readonly PendingRequest[]
}

/**
 * Talks to a program. Each line it sends is one turn of the same session: the events are written as JSON lines, as ADK clients
 * read them, then one line `{"end": ...}` with the status and the open requests.
 */
export async function jsonChat(runner: Runner, lines: LineSource, options: JsonChatOptions): Promise<JsonChatResult> {
  const conversation = new JsonChat(runner, options)
  await conversation.resume()
  for (;;) {
    const line = await lines.read()
    if (line.type !== 'line') return conversation
    if (line.text.trim() !== '') await conversation.turn(line.text)
  }
}

class JsonChat {
  /** The status of each turn. */
  readonly statuses: TurnStatus[] = []
  /** The last `end` line lists an open request. */
  hasOpenRequests = false
  readonly #runner: Runner
  readonly #options: JsonChatOptions
  readonly #writer = new EventWriter()
  #sessionId: string | undefined
  /** The last stored event that was written. */
  #lastEventId: string | undefined

  constructor(runner: Runner, options: JsonChatOptions) {
    this.#runner = runner
    this.#options = options
    this.#sessionId = options.sessionId
  }

  /** Continues work that an earlier process left, and writes the open requests of the session. */
  async resume(): Promise<void> {
    const { userId } = this.#options
    const sessionId = this.#sessionId
    if (sessionId === undefined) return
    try {
      await this.#write(this.#runner.resume({ userId, sessionId }))
    } catch (error) {
      const isIdle = error instanceof ToolwrightError && error.code === 'NOT_FOUND'
      if (!isIdle) return this.#end(failureOf(error))
    }
    const pending = await this.#pending()
    if (pending.length) this.#end({ sessionId, invocationId: pending[0]?.invocationId, status: 'paused', pending })
  }

  /** Runs the turn of a line. */
  async turn(line: string): Promise<void> {
    const { userId } = this.#options
    try {
      const input = readJsonInput(line)
      const message = input.type === 'message' ? input.message : toAnswerMessage(input.answers, await this.#pending())
      const run = this.#runner.run({ userId, sessionId: this.#sessionId, message })
      this.#sessionId = run.sessionId
      const error = await this.#writeWithBackground(run)
      const { sessionId, invocationId } = run
      const pending = await this.#pending()
      const isPaused = pending.some((request) => request.invocationId === invocationId)
      const status = error ? statusOf(error.code) : isPaused ? 'paused' : 'completed'
      this.#end({ sessionId, invocationId, status, error, pending })
    } catch (error) {
      this.#end(failureOf(error))
    }
  }

  /** Writes the events of a run, and what its background calls add. Returns the error that it ended with. */
  async #writeWithBackground(run: Run): Promise<TurnEnd['error']> {
    const { userId, interrupts } = this.#options
    const { sessionId } = run
    for (let next: Run | undefined = run; next; ) {
      const before = this.#lastEventId
      const error = await this.#write(next)
      const lastEventId = this.#lastEventId
      if (error || lastEventId === undefined || lastEventId === before) return error
      next = await nextBackgroundRun(this.#runner, { userId, sessionId, lastEventId }, interrupts)
    }
    return undefined
  }

  /** Writes the events of a run. Returns the error that it ended with. */
  async #write(run: Run): Promise<TurnEnd['error']> {
    const { interrupts, output } = this.#options
    const stopListening = interrupts.listen(() => {
      stopListening() // the next Ctrl+C exits
      run.cancel().catch(() => {}) // the run itself reports why it could not be cancelled
    })
    let failure: TurnEnd['error']
    try {
      for await (const event of run) {
        for (const written of this.#writer.write(event)) output.write(`${escapeJson(written)}\n`)
        if (!event.partial) this.#lastEventId = event.id
        const { errorCode: code, errorMessage: message = '', isolationScope } = event
        if (code !== undefined && isolationScope === undefined) failure = { code, message }
      }
      return failure
    } finally {
      stopListening()
    }
  }

  async #pending(): Promise<PendingRequest[]> {
    if (this.#sessionId === undefined) return []
    return await this.#runner.pending({ userId: this.#options.userId, sessionId: this.#sessionId })
  }

  #end(end: TurnEnd): void {
    this.statuses.push(end.status)
    this.hasOpenRequests = end.pending.length > 0
    this.#options.output.write(`${escapeJson({ end: { sessionId: this.#sessionId, ...end } })}\n`)
  }
}

function failureOf(error: unknown): TurnEnd {
  const code = error instanceof ToolwrightError ? error.code : 'INTERNAL'
  return { status: statusOf(code), error: { code, message: messageOf(error) }, pending: [] }
}

function statusOf(code: string): TurnStatus {
  return code === 'CANCELLED' ? 'cancelled' : 'failed'
}
