// One live session, as its app sees it: what it sends, answers and hears, and how it ends.
import type { Ports } from '../../../core/base/ports.ts'
import type { Part } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { State } from '../../../engine/context/context.ts'
import type { PhaseChange } from '../../../engine/flow/phases/live-phase.ts'
import type { LiveEvent } from '../../../engine/model/live-event.ts'
import { LiveConnectionError } from '../../../engine/model/live-model.ts'
import type { LiveRun } from '../../../engine/runner/live/live-run.ts'
import type { RunNews } from '../../../engine/runner/live/run-news.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { LiveOptions } from '../live-options.ts'
import { adviseProvider, answerRequest, checkAnswers } from './answer-request.ts'
import { LiveEventQueue } from './event-queue.ts'
import { LiveInputHub } from './input-hub.ts'
import { type LiveMessage, readLiveMessage } from './live-message.ts'
import { lostText } from './lost-text.ts'
import { makeRun } from './make-run.ts'
import type { Ending } from './session-base.ts'
import { SessionLoop } from './session-loop.ts'

/**
 * A live session. Iterate it for its events; leaving the loop closes it. Tools, gates and state are those of the runner, and
 * everything is recorded in the event log of the session.
 */
export class LiveSession implements AsyncIterable<LiveEvent> {
  readonly #options: LiveOptions<LiveSession>
  readonly #runner: Runner
  readonly #ports: Ports
  readonly #input = new LiveInputHub()
  readonly #queue: LiveEventQueue
  readonly #run: LiveRun
  /** Undefined until the run has started. */
  #loop: SessionLoop<LiveSession> | undefined
  readonly #ended = Promise.withResolvers<void>()
  #closing: Promise<void> | undefined
  #consumer: 'none' | 'iterating' = 'none'
  /** The user of the session. */
  readonly userId: string

  /** @internal Use `connectLive()`. */
  constructor(options: LiveOptions<LiveSession>, runner: Runner, ports: Ports) {
    this.#options = options
    this.#runner = runner
    this.userId = options.userId ?? 'user'
    this.#ports = ports
    this.#queue = new LiveEventQueue((isFull) =>
      this.#loop?.teller.link.setPaused(isFull && this.#consumer === 'iterating'),
    )
    this.#run = makeRun(options, {
      input: this.#input,
      flow: () => this.#loop?.flow,
      on: (news) => (news.type === 'stopped' ? this.#onStopped(news.reason) : this.#loop?.teller.follow(news)),
      report: (problem, error) => this.#loop?.recorder.report(problem, error),
    })
  }

  /** @internal Starts the run, then connects. */
  async open(): Promise<void> {
    const { userId, sessionId, state, runConfig, runContext, traceparent, signal } = {
      ...this.#options,
      userId: this.userId,
    }
    signal?.throwIfAborted()
    const request = { userId, sessionId, stateDelta: state, runConfig, runContext, traceparent }
    try {
      await this.#run.attach(await this.#runner.internals.startLive({ request, live: this.#run }))
      if (this.#closing) throw new ToolwrightError('INVALID_REQUEST', 'The live session was stopped while it started.')
      this.#loop = new SessionLoop<LiveSession>(this, {
        options: this.#options,
        live: this.#run.calls,
        ports: this.#ports,
        input: this.#input,
        queue: this.#queue,
        onConfirmation: (news) => void this.#confirm(news),
        onEnd: (ending) => this.#onEnd(ending),
      })
      await this.#loop.connect()
    } catch (error) {
      await this.#end(`The session could not start: ${messageOf(error)}`)
      throw error
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (signal?.aborted) await this.close()
  }

  readonly #onAbort = (): void => void this.close()

  get #started(): SessionLoop<LiveSession> {
    if (!this.#loop) throw new ToolwrightError('INTERNAL', 'The live session has not started.')
    return this.#loop
  }

  /** The id of the session in the store. A text run continues the conversation with it. */
  get sessionId(): string {
    return this.#run.run.sessionId
  }
  /** The invocation under which everything is recorded. */
  get invocationId(): string {
    return this.#run.run.invocationId
  }
  /** The state of the session. Writes are recorded; watchers and phases see them. */
  get state(): State {
    return this.#started.flow.state
  }
  /** The name of the current phase. Undefined without phases. */
  get phase(): string | undefined {
    return this.#started.flow.phase
  }
  /** The latest changes of the phase, at most 100. */
  get phaseHistory(): readonly PhaseChange[] {
    return this.#started.flow.history
  }
  /** The calls without their final response. */
  get openCalls(): number {
    return this.#started.calls.openCount
  }
  /** Settles when the session has ended, for whatever reason. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /**
   * Sends text, audio, video, messages or manual activity. Resolves when it is recorded and on its way. A promise that is awaited
   * slows a sender down that is faster than the network.
   *
   * @example
   * await session.send('Is my order on its way?')
   * await session.send({ audio: pcm }) // 16-bit PCM, 16 kHz
   */
  async send(message: LiveMessage): Promise<void> {
    this.#throwIfClosed()
    const input = readLiveMessage(message)
    switch (input.type) {
      case 'text':
        return await this.#started.write(input, [{ role: 'user', parts: [{ text: input.text }] }])
      case 'content':
        return await this.#started.write(input, input.contents)
      default:
        this.#input.push(input)
        return await this.#started.teller.stream(input)
    }
  }

  /**
   * Answers requests of this session: `session.answer(respond(request, value))`. The answers pass the same checks as all others.
   * Rejects with ALREADY_ANSWERED if a request has another answer.
   */
  async answer(...answers: readonly Part[]): Promise<void> {
    this.#throwIfClosed()
    checkAnswers(answers)
    const { userId, sessionId } = this
    const { runContext } = this.#options
    const run = this.#runner.run({
      userId,
      sessionId,
      message: answers,
      ...(runContext && { runContext }),
    } as Parameters<Runner['run']>[0])
    try {
      for await (const _ of run); // it follows the run of this session, and ends once the answers are recorded
    } catch (error) {
      const { confirmationProvider, allowUnconfirmed } = this.#options
      throw confirmationProvider || allowUnconfirmed ? error : adviseProvider(error, answers)
    }
  }

  /** Asks the provider about a call that needs a confirmation. */
  async #confirm({ request, signal }: RunNews & { type: 'request' }): Promise<void> {
    const { confirmationProvider, allowUnconfirmed = false } = this.#options
    await answerRequest(request, signal, {
      run: this.#run.run.data,
      confirmationProvider,
      allowUnconfirmed,
      answer: (part) => this.answer(part),
      report: this.#started.recorder.report,
    })
  }

  #throwIfClosed(): void {
    if (this.#closing) throw new ToolwrightError('INVALID_REQUEST', 'The live session is closed. Connect a new one.')
  }

  /** Cancels running calls, and tells the model. The ids are those of the event `toolCall`; calls that have ended are ignored. */
  async cancelCalls(callIds: readonly string[], reason = 'The app cancelled the call.'): Promise<void> {
    this.#started.calls.cancelByApp(callIds)
    await this.#run.calls.cancel(callIds, reason)
  }

  /** Moves to a phase, whatever its conditions say. */
  async enterPhase(name: string): Promise<void> {
    this.#throwIfClosed()
    await this.#started.flow.enter(name)
  }

  /** The events of the session. It can be iterated once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent, void, undefined> {
    if (this.#consumer === 'iterating')
      throw new ToolwrightError(
        'INVALID_REQUEST',
        'A live session can be iterated once. Pass its events on from the first loop, or connect a new session.',
      )
    this.#consumer = 'iterating'
    try {
      for (let event = await this.#queue.take(); event; event = await this.#queue.take()) yield event
    } finally {
      await this.close()
    }
  }

  /** Ends the session: cancels what is running, closes the connection and releases the session. */
  async close(): Promise<void> {
    await this.#end('The live session was closed.')
  }

  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #onStopped(reason: unknown): void {
    this.#onEnd(reason instanceof ToolwrightError ? { errorCode: reason.code, error: reason } : { error: reason })
  }

  /** The session cannot go on. */
  #onEnd({ errorCode, error }: Ending): void {
    if (this.#closing) return
    const message = error instanceof LiveConnectionError ? lostText(error, this.#storedSessionId) : messageOf(error)
    if (errorCode !== undefined) this.#loop?.recorder.show({ type: 'error', errorCode, message })
    void this.#end(message)
  }

  /** Undefined if the session is gone with its process. */
  get #storedSessionId(): string | undefined {
    return this.#options.runner && this.sessionId
  }

  #end(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: string): Promise<void> {
    const disconnected = this.#loop?.disconnect()
    this.#input.close()
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    await disconnected
    await this.#run.close(reason)
    this.#loop?.close()
    if (!this.#options.runner) await this.#runner.close().catch(() => {}) // its run was stopped
    this.#queue.end({ type: 'closed', reason })
    this.#ended.resolve()
  }
}
