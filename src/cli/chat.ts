import type { PendingRequest } from '../event/pending.ts'
import type { Run } from '../runner/run.ts'
import type { Runner } from '../runner/runner.ts'
import { askAll } from './ask-all.ts'
import type { Lines } from './lines.ts'
import { type Question, questionOf, summaryOf } from './question.ts'
import { showTurn, type TurnOptions } from './turn.ts'
import { visible } from './visible.ts'

export interface ChatOptions extends Omit<TurnOptions, 'rootName' | 'expected'> {
  readonly userId: string
  /** One to go on with; what it waits for is asked first. */
  readonly sessionId?: string | undefined
  /** Who answers what a run asks: often whoever sends the messages. */
  readonly answers: Lines
  /** Show each message before its turn, where nobody saw it being typed. */
  readonly echo?: boolean | undefined
  /** What to tell somebody who leaves a question open. */
  howToGoOn(sessionId: string): string
}

export interface Chatted {
  /** Messages and answers that were sent. */
  readonly turns: number
  /** Those that ended with an error. */
  readonly failed: number
  /** Something was asked and nobody answered. */
  readonly isLeftOpen: boolean
}

/**
 * One turn for each message, all in one session, until they end. After each, and before the first, whatever the session
 * waits for is asked. Ctrl-C cancels the running turn, or the one whose question is on the screen.
 */
export async function chat(runner: Runner, messages: Lines, options: ChatOptions): Promise<Chatted> {
  const talk = new Chat(runner, options)
  await talk.begin()
  for (;;) {
    const heard = await messages.read()
    if (heard.type !== 'line') break
    const message = heard.text.trim()
    if (message !== '') await talk.say(message)
  }
  return await talk.end()
}

const BUSY = 'Another process has it, or died with it less than 15 seconds ago: try again in a moment.\n'

class Chat {
  readonly #runner: Runner
  readonly #options: ChatOptions
  #sessionId: string | undefined
  #turns = 0
  #failed = 0
  #isLeftOpen = false
  /** Work elsewhere that was spoken of. */
  readonly #mentioned: Set<string> = new Set()

  constructor(runner: Runner, options: ChatOptions) {
    this.#runner = runner
    this.#options = options
    this.#sessionId = options.sessionId
  }

  async begin(): Promise<void> {
    if (this.#sessionId === undefined) return
    await this.#goOn(this.#sessionId)
    await this.#settle(this.#sessionId)
  }

  async say(message: string): Promise<void> {
    const { output, echo, userId } = this.#options
    if (echo) output.write(`${this.#turns > 0 ? '\n' : ''}> ${visible(message)}\n`)
    const run = this.#runner.run({ userId, sessionId: this.#sessionId, message, runConfig: { streaming: true } })
    this.#sessionId = run.sessionId
    await this.#turn(run)
    await this.#settle(run.sessionId)
  }

  async end(): Promise<Chatted> {
    const { output, howToGoOn } = this.#options
    const open = this.#isLeftOpen && this.#sessionId !== undefined ? await this.#questions(this.#sessionId) : []
    if (open.length > 0 && this.#sessionId !== undefined) {
      for (const { request } of open) output.write(`Still open: ${summaryOf(request)}\n`)
      output.write(`${visible(howToGoOn(this.#sessionId))}\n`)
    }
    return { turns: this.#turns, failed: this.#failed, isLeftOpen: open.length > 0 }
  }

  /** Asks until nothing is left to ask, or nobody is there. */
  async #settle(sessionId: string): Promise<void> {
    const { userId } = this.#options
    while (!this.#isLeftOpen) {
      const questions = await this.#questions(sessionId)
      const invocationId = questions[0]?.request.invocationId
      if (invocationId === undefined) return
      // answers to two invocations go in two messages
      const asked = await askAll(
        questions.filter(({ request }) => request.invocationId === invocationId),
        this.#options,
      )
      if (asked === 'end') this.#isLeftOpen = true
      else if (asked === 'interrupt') await this.#cancel(sessionId, invocationId)
      else {
        const run = this.#runner.run({ userId, sessionId, message: asked, runConfig: { streaming: true } })
        const failure = await this.#turn(run)
        if (failure === 'EXPIRED') await this.#goOn(sessionId)
      }
    }
  }

  /** What can be answered here; of the rest it is said once that it is waited for. */
  async #questions(sessionId: string): Promise<Question[]> {
    const waiting = await this.#runner.pending({ userId: this.#options.userId, sessionId })
    return waiting.flatMap((request) => questionOf(request, this.#runner.agent.name) ?? this.#mention(request))
  }

  #mention(request: PendingRequest): [] {
    if (!this.#mentioned.has(request.id)) this.#options.output.write(`Waiting for ${summaryOf(request)}\n`)
    this.#mentioned.add(request.id)
    return []
  }

  async #cancel(sessionId: string, invocationId: string): Promise<void> {
    await this.#runner.cancel({ userId: this.#options.userId, sessionId, invocationId })
    this.#options.output.write('! CANCELLED: The run was cancelled.\n')
    this.#failed++
  }

  /** What was interrupted in an earlier process, or waited too long, goes on. */
  async #goOn(sessionId: string): Promise<void> {
    const run = this.#runner.resume({ userId: this.#options.userId, sessionId, runConfig: { streaming: true } })
    const failure = await showTurn(run, { ...this.#turnOptions(), expected: 'NOT_FOUND' })
    if (failure === 'SESSION_BUSY') this.#options.output.write(BUSY)
    if (failure !== undefined) this.#failed++
  }

  async #turn(run: Run): Promise<string | undefined> {
    this.#turns++
    const failure = await showTurn(run, this.#turnOptions())
    if (failure !== undefined) this.#failed++
    return failure
  }

  #turnOptions(): TurnOptions {
    return { ...this.#options, rootName: this.#runner.agent.name }
  }
}
