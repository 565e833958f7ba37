import type { PendingRequest } from '../event/pending.ts'
import type { Run } from '../runner/run/run-handle.ts'
import type { Runner } from '../runner/runner.ts'
import { askAll } from './ask-all.ts'
import { readTyped } from './commands.ts'
import type { Lines } from './lines.ts'
import { headerOf, helpText, stateText, toolsText } from './overview.ts'
import { type Question, questionOf, summaryOf } from './question.ts'
import { Totals } from './totals.ts'
import { showTurn, type TurnOptions } from './turn.ts'
import { inOneLine, visible } from './visible.ts'

export interface ChatOptions extends Pick<TurnOptions, 'screen' | 'interrupts' | 'verbose'> {
  readonly userId: string
  /** One to go on with; what it waits for is asked first. */
  readonly sessionId?: string | undefined
  /** Who answers what a run asks: often whoever sends the messages. */
  readonly answers: Lines
  /** Show each message before its turn, where nobody saw it being typed. */
  readonly echo?: boolean | undefined
  /** A person types: there is a header, and `/help` is no message. */
  readonly hasCommands?: boolean | undefined
  /** Where sessions are kept, in words. */
  readonly kept?: string | undefined
  /** The session outlives this process. */
  readonly isKept?: boolean | undefined
  /** How to continue a session, for a person who leaves it. */
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
    if (heard.type !== 'line' || (await talk.hear(heard.text)) === 'leave') break
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
  #totals = new Totals()
  /** What the last turn cut, whole. */
  readonly #cut: string[] = []
  /** Work elsewhere that was spoken of. */
  readonly #mentioned: Set<string> = new Set()

  constructor(runner: Runner, options: ChatOptions) {
    this.#runner = runner
    this.#options = options
    this.#sessionId = options.sessionId
  }

  async begin(): Promise<void> {
    if (this.#options.hasCommands) this.#showHeader()
    if (this.#sessionId === undefined) return
    await this.#goOn(this.#sessionId)
    await this.#settle(this.#sessionId)
    if (this.#turns > 0) this.#showTotals()
  }

  /** A line: a message, or a command where a person types. */
  async hear(line: string): Promise<'leave' | undefined> {
    const { hasCommands, screen } = this.#options
    const text = line.trim()
    if (text === '') return undefined
    const typed = hasCommands ? readTyped(text) : ({ type: 'message', text } as const)
    if (typed.type === 'message') await this.#say(typed.text)
    else if (typed.type === 'unknown') screen.write(`${typed.hint}\n\n`)
    else if (typed.name === 'exit') return 'leave'
    else screen.write(`${await this.#command(typed.name)}\n`)
    return undefined
  }

  async #command(name: string): Promise<string> {
    const { screen, userId } = this.#options
    const { agent, appName, sessionService } = this.#runner
    const overview = { width: screen.width ?? 80, paint: screen.paint }
    switch (name) {
      case 'tools':
        return toolsText(agent, overview)
      case 'state': {
        const sessionId = this.#sessionId
        const session =
          sessionId === undefined ? undefined : await sessionService.getSession({ appName, userId, sessionId })
        return stateText(session?.state ?? {})
      }
      case 'more':
        return this.#cut.join('') || 'The last turn cut nothing.\n'
      case 'new':
        return this.#leaveSession()
      default:
        return helpText(overview)
    }
  }

  #leaveSession(): string {
    const left = this.#sessionId === undefined ? '' : `Session ${inOneLine(this.#sessionId)} ends here. `
    this.#sessionId = undefined
    return `${left}Your next message starts a new one.\n`
  }

  #showHeader(): void {
    const { screen, kept = 'in memory' } = this.#options
    const session = `${this.#sessionId ?? 'new'}, ${kept}`
    screen.write(headerOf(this.#runner.agent, session, { width: screen.width ?? 80, paint: screen.paint }))
  }

  async #say(message: string): Promise<void> {
    const { screen, echo, userId } = this.#options
    if (echo) screen.write(`${this.#turns > 0 && !screen.isLive ? '\n' : ''}> ${visible(message)}\n`)
    this.#cut.length = 0
    this.#totals = new Totals()
    const run = this.#runner.run({ userId, sessionId: this.#sessionId, message, runConfig: { streaming: true } })
    this.#sessionId = run.sessionId
    await this.#turn(run)
    await this.#settle(run.sessionId)
    this.#showTotals()
  }

  #showTotals(): void {
    const { screen } = this.#options
    if (screen.isTerminal && !this.#isLeftOpen) screen.write(`${screen.paint(['dim'], this.#totals.toString())}\n\n`)
  }

  async end(): Promise<Chatted> {
    const { screen, howToGoOn, hasCommands, isKept } = this.#options
    const open = this.#isLeftOpen && this.#sessionId !== undefined ? await this.#questions(this.#sessionId) : []
    for (const { request } of open) screen.write(`Still open: ${summaryOf(request)}\n`)
    const isTold = open.length > 0 || (hasCommands && isKept)
    if (isTold && this.#sessionId !== undefined) screen.write(`${visible(howToGoOn(this.#sessionId))}\n`)
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
    if (!this.#mentioned.has(request.id)) this.#options.screen.write(`Waiting for ${summaryOf(request)}\n`)
    this.#mentioned.add(request.id)
    return []
  }

  async #cancel(sessionId: string, invocationId: string): Promise<void> {
    await this.#runner.cancel({ userId: this.#options.userId, sessionId, invocationId })
    this.#options.screen.write(`${this.#options.screen.paint(['red'], '! CANCELLED: The run was cancelled.')}\n`)
    this.#failed++
  }

  /** What was interrupted in an earlier process, or waited too long, goes on. */
  async #goOn(sessionId: string): Promise<void> {
    const run = this.#runner.resume({ userId: this.#options.userId, sessionId, runConfig: { streaming: true } })
    const failure = await showTurn(run, { ...this.#turnOptions(), expected: 'NOT_FOUND' })
    if (failure === 'SESSION_BUSY') this.#options.screen.write(BUSY)
    if (failure !== undefined) this.#failed++
  }

  async #turn(run: Run): Promise<string | undefined> {
    this.#turns++
    const failure = await showTurn(run, this.#turnOptions())
    if (failure !== undefined) this.#failed++
    return failure
  }

  #turnOptions(): TurnOptions {
    const { screen, interrupts, verbose, hasCommands } = this.#options
    const onCut = hasCommands ? (text: string): unknown => this.#cut.push(text) : undefined
    return { screen, interrupts, verbose, onCut, rootName: this.#runner.agent.name, totals: this.#totals }
  }
}
