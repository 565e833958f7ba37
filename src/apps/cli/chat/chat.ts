import { escapeLine, escapeText } from '../../../core/base/escape.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { LineSource } from '../input/line-source.ts'
import { collectAnswers } from '../requests/collect-answers.ts'
import { openPrompts } from '../requests/open-prompts.ts'
import { type RequestPrompt, requestSummary } from '../requests/request-prompt.ts'
import { nextBackgroundRun } from './background-run.ts'
import { parseTypedInput } from './commands.ts'
import { headerText, helpText, stateText, toolsText } from './info-text.ts'
import { type ShownRun, type ShowRunOptions, showRun } from './show-run.ts'
import { UsageTotals } from './usage-totals.ts'

/** Options of `chat`. */
export interface ChatOptions extends Pick<ShowRunOptions, 'screen' | 'interrupts' | 'verbose'> {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session to continue. Its pending requests are asked first. Default: a new session. */
  readonly sessionId?: string | undefined
  /** Source of the answers to pending requests; often the same as the source of the messages. */
  readonly answers: LineSource
  /** Print each message before its turn, for messages that were not typed. Default: false. */
  readonly showsMessages?: boolean | undefined
  /** Show a header and accept `/commands`, for a user at a terminal. Default: false. */
  readonly hasCommands?: boolean | undefined
  /** Where sessions are stored, for the header. Default: `in memory`. */
  readonly storage?: string | undefined
  /** Opens the page on which the user signs in. Default: its link is only printed. */
  openBrowser?: ((url: string) => void) | undefined
  /** The session outlives this process. Default: false. */
  readonly isPersistent?: boolean | undefined
  /** End with the first request that stays open, for messages that were written before. Default: false. */
  readonly stopsAtOpenRequest?: boolean | undefined
  /** Tells the user how to send the result of a long-running call. */
  resultHint?(request: PendingRequest): string
  /** Tells the user how to continue the session later. */
  continueHint(sessionId: string): string
}

/** What a chat ended with. */
export interface ChatResult {
  /** Number of runs for messages and answers. */
  readonly turns: number
  /** Number of runs that ended with an error. */
  readonly failed: number
  /** The session has a request without an answer, such as an approval or the result of a long-running call. */
  readonly hasOpenRequests: boolean
}

/**
 * Runs one turn for each message, all in one session, until the messages end. It asks the session's pending requests
 * before the first turn and after each turn. Ctrl+C cancels the running turn, or the turn whose request is shown.
 */
export async function chat(runner: Runner, messages: LineSource, options: ChatOptions): Promise<ChatResult> {
  const conversation = new Chat(runner, options)
  await conversation.start()
  while (!(options.stopsAtOpenRequest && conversation.hasUnanswered)) {
    const result = await messages.read()
    if (result.type !== 'line' || (await conversation.handleLine(result.text)) === 'exit') break
  }
  return await conversation.end()
}

const SESSION_BUSY_HINT =
  'Another process uses the session, or crashed less than 15 seconds ago. Try again in a moment.\n'

class Chat {
  readonly #runner: Runner
  readonly #options: ChatOptions
  #sessionId: string | undefined
  #turns = 0
  #failed = 0
  /** A request was asked, and the answers ended. */
  #hasUnanswered = false
  #totals = new UsageTotals()
  /** Results that the last turn truncated, in full. */
  readonly #truncatedTexts: string[] = []
  /** Long-running requests that were already announced. */
  readonly #announced: Set<string> = new Set()
  /** Requests that an earlier process left open, and has shown. */
  #earlierIds: ReadonlySet<string> = new Set()
  /** Pages that were already opened in the browser. */
  readonly #opened: Set<string> = new Set()

  constructor(runner: Runner, options: ChatOptions) {
    this.#runner = runner
    this.#options = options
    this.#sessionId = options.sessionId
  }

  get hasUnanswered(): boolean {
    return this.#hasUnanswered
  }

  async start(): Promise<void> {
    if (this.#options.hasCommands) this.#showHeader()
    if (this.#sessionId === undefined) return
    const { userId } = this.#options
    const pending = await this.#runner.pending({ userId, sessionId: this.#sessionId })
    this.#earlierIds = new Set(pending.map(({ id }) => id))
    await this.#resume(this.#sessionId)
    await this.#answerPendingRequests(this.#sessionId)
    if (this.#turns > 0) this.#showTotals()
  }

  /** Sends a message or runs a command. */
  async handleLine(line: string): Promise<'exit' | undefined> {
    const { hasCommands, screen } = this.#options
    const text = line.trim()
    if (text === '') return undefined
    const typed = hasCommands ? parseTypedInput(text) : ({ type: 'message', text } as const)
    if (typed.type === 'message') await this.#sendMessage(typed.text)
    else if (typed.type === 'unknown') screen.write(`${typed.hint}\n\n`)
    else if (typed.name === 'exit') return 'exit'
    else screen.write(`${await this.#runCommand(typed.name)}\n`)
    return undefined
  }

  async #runCommand(name: string): Promise<string> {
    const { screen, userId } = this.#options
    const { agent, appName, sessionService } = this.#runner
    const layout = { width: screen.width ?? 80, paint: screen.paint }
    switch (name) {
      case 'tools':
        return toolsText(agent, layout)
      case 'state': {
        const sessionId = this.#sessionId
        const session =
          sessionId === undefined ? undefined : await sessionService.getSession({ appName, userId, sessionId })
        return stateText(session?.state ?? {})
      }
      case 'more':
        return this.#truncatedTexts.join('') || 'The last turn truncated nothing.\n'
      case 'new':
        return this.#startNewSession()
      default:
        return helpText(layout)
    }
  }

  #startNewSession(): string {
    const closed = this.#sessionId === undefined ? '' : `Session ${escapeLine(this.#sessionId)} is closed. `
    this.#sessionId = undefined
    return `${closed}Your next message starts a new session.\n`
  }

  #showHeader(): void {
    const { screen, storage = 'in memory' } = this.#options
    const session = `${this.#sessionId ?? 'new'}, ${storage}`
    screen.write(headerText(this.#runner.agent, session, { width: screen.width ?? 80, paint: screen.paint }))
  }

  async #sendMessage(message: string): Promise<void> {
    const { screen, showsMessages, userId } = this.#options
    if (showsMessages) screen.write(`${this.#turns > 0 && !screen.isLive ? '\n' : ''}> ${escapeText(message)}\n`)
    this.#truncatedTexts.length = 0
    this.#totals = new UsageTotals()
    const run = this.#runner.run({ userId, sessionId: this.#sessionId, message, runConfig: { streaming: true } })
    this.#sessionId = run.sessionId
    await this.#showRun(run)
    await this.#answerPendingRequests(run.sessionId)
    this.#showTotals()
  }

  #showTotals(): void {
    const { screen } = this.#options
    if (screen.isTerminal && !this.#hasUnanswered) screen.write(`${screen.paint(['dim'], this.#totals.toString())}\n\n`)
  }

  /** Lists the requests that stay open and says how to continue the session. */
  async end(): Promise<ChatResult> {
    const { screen, continueHint, hasCommands, isPersistent } = this.#options
    const { userId } = this.#options
    const sessionId = this.#sessionId
    const open = sessionId === undefined ? [] : await this.#runner.pending({ userId, sessionId })
    for (const request of open) screen.write(`Still open: ${requestSummary(request)}\n`)
    const showsHint = open.length > 0 || (hasCommands && isPersistent)
    if (showsHint && sessionId !== undefined) screen.write(`${escapeText(continueHint(sessionId))}\n`)
    return { turns: this.#turns, failed: this.#failed, hasOpenRequests: open.length > 0 }
  }

  /** Asks pending requests and sends the answers until no request is left or the answers end. */
  async #answerPendingRequests(sessionId: string): Promise<void> {
    const { userId } = this.#options
    while (!this.#hasUnanswered) {
      const prompts = await this.#openPrompts(sessionId)
      const invocationId = prompts[0]?.request.invocationId
      if (invocationId === undefined) return
      // a message can only answer requests of one invocation
      const answers = await collectAnswers(
        prompts.filter(({ request }) => request.invocationId === invocationId),
        { ...this.#options, wasShown: ({ id }) => this.#earlierIds.has(id) },
      )
      if (answers === 'end') this.#hasUnanswered = true
      else if (answers === 'interrupt') await this.#cancel(sessionId, invocationId)
      else {
        const run = this.#runner.run({ userId, sessionId, message: answers, runConfig: { streaming: true } })
        const failure = await this.#showRun(run)
        if (failure === 'EXPIRED') await this.#resume(sessionId)
      }
    }
  }

  /** Prompts for the requests that a user can answer here; announces each other request once. */
  async #openPrompts(sessionId: string): Promise<RequestPrompt[]> {
    const pending = await this.#runner.pending({ userId: this.#options.userId, sessionId })
    return openPrompts(pending, {
      runner: this.#runner,
      openBrowser: (url) => this.#openBrowser(url),
      onWaiting: (request) => this.#announceWaiting(request),
    })
  }

  #announceWaiting(request: PendingRequest): void {
    if (this.#announced.has(request.id)) return
    this.#announced.add(request.id)
    const { screen, resultHint } = this.#options
    screen.write(`Waiting for ${requestSummary(request)}\n`)
    if (request.kind === 'longRunning' && resultHint) screen.write(`  ${escapeText(resultHint(request))}\n`)
  }

  /** Opens each page once: a provider that redirects at once would otherwise repeat an answer that fails. */
  #openBrowser(url: string): void {
    if (!this.#opened.has(url)) this.#options.openBrowser?.(url)
    this.#opened.add(url)
  }

  async #cancel(sessionId: string, invocationId: string): Promise<void> {
    await this.#runner.cancel({ userId: this.#options.userId, sessionId, invocationId })
    this.#options.screen.write(`${this.#options.screen.paint(['red'], '! CANCELLED: The run was cancelled.')}\n`)
    this.#failed++
  }

  /** Resumes pending work that an earlier process left, or a request that expired. */
  async #resume(sessionId: string): Promise<void> {
    const run = this.#runner.resume({ userId: this.#options.userId, sessionId, runConfig: { streaming: true } })
    const { failure } = await showRun(run, { ...this.#showRunOptions(), ignoredErrorCode: 'NOT_FOUND' })
    if (failure === 'SESSION_BUSY') this.#options.screen.write(SESSION_BUSY_HINT)
    if (failure !== undefined) this.#failed++
  }

  async #showRun(run: Run): Promise<string | undefined> {
    this.#turns++
    const shown = await showRun(run, this.#showRunOptions())
    const failure = await this.#showBackground(run.sessionId, shown)
    if (failure !== undefined) this.#failed++
    return failure
  }

  /** Shows what background calls of the run add to the session. Returns the error of the last run. */
  async #showBackground(sessionId: string, { failure, lastEventId }: ShownRun): Promise<string | undefined> {
    const { userId, screen, interrupts } = this.#options
    if (failure !== undefined || lastEventId === undefined) return failure
    screen.status('Waiting for tools in the background')
    const next = await nextBackgroundRun(this.#runner, { userId, sessionId, lastEventId }, interrupts)
    screen.status(undefined)
    if (!next) return undefined
    return await this.#showBackground(sessionId, await showRun(next, this.#showRunOptions()))
  }

  #showRunOptions(): ShowRunOptions {
    const { screen, interrupts, verbose, hasCommands } = this.#options
    const onTruncated = hasCommands ? (text: string): unknown => this.#truncatedTexts.push(text) : undefined
    return { screen, interrupts, verbose, onTruncated, rootName: this.#runner.agent.name, totals: this.#totals }
  }
}
