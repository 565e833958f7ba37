// The loop of a live session: what its run and its connection report becomes facts, and the session does what follows from them.
import type { Ports } from '../../base/ports.ts'
import { unreachable } from '../../base/unreachable.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { Content, FunctionResponse } from '../../content/content.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import { LiveRun } from '../../runner/live/live-run.ts'
import type { RunNews } from '../../runner/live/run-news.ts'
import type { LiveEvent } from '../../tool/live-event.ts'
import type { LiveClientMessage, LiveToolCall } from '../../tool/live-model.ts'
import type { Command } from '../conversation/commands.ts'
import type { LinkNews } from '../link/link-options.ts'
import type { LiveOptions } from '../live-options.ts'
import type { LiveEventQueue } from './event-queue.ts'
import type { LiveInputHub } from './input-hub.ts'
import { KnownConversation } from './known-conversation.ts'
import { recordHeard, recordReply, recordUnfinished, transcriptOf } from './record-speech.ts'
import { SessionOrder } from './session-order.ts'
import { changeResponses, liveComputed, livePhases, makeParts, type SessionParts } from './session-parts.ts'

/** How long a tool response waits until the model knows the tools of a new phase or agent. */
const SETTLE_MS = 1_000
/** How long calls that run may take when the session has used its calls. */
const LAST_CALLS_MS = 2_000
/** How long a new connection waits for results that are on their way to the model. */
const DELIVERY_MS = 2_000
/** How long the end of the session waits for what is being recorded. */
const CLOSE_MS = 2_000

/** Why a session ends before its app closes it. */
export interface Ending {
  /** The code of the error event. Undefined: the run was cancelled, which is no error. */
  readonly errorCode?: string
  /** The reason. */
  readonly error: unknown
}

/** What the loop of a session needs. */
export interface LoopOptions<S> {
  /** The session, for hooks. */
  readonly session: S
  /** The options of `connectLive()`. */
  readonly options: LiveOptions<S>
  /** Clock and timers. */
  readonly ports: Ports
  /** What the user sends, for tools. */
  readonly input: LiveInputHub
  /** The events for the consumer. */
  readonly queue: LiveEventQueue
  /** A human must confirm a call. */
  onConfirmation(confirmation: RunNews & { type: 'request' }): void
  /** The session cannot go on. */
  onEnd(ending: Ending): void
}

/** The loop of a live session. */
export class SessionLoop<S> {
  readonly #options: LoopOptions<S>
  readonly #conversation: KnownConversation
  readonly #order: SessionOrder
  /** Results that are recorded and not sent yet. */
  readonly #deliveries: Set<Promise<void>> = new Set()
  #parts: SessionParts<S> | undefined
  /** The run of the session. */
  readonly run: LiveRun

  constructor(loop: LoopOptions<S>) {
    this.#options = loop
    const { options, input, ports } = loop
    const { model, textModel, phases } = options
    this.#conversation = new KnownConversation(ports)
    this.run = new LiveRun({
      model,
      textModel,
      phases: phases && livePhases(() => this.#parts?.flow),
      derived: liveComputed(options, () => this.#parts?.flow),
      input,
      changeResponses: changeResponses(options, (problem, error) => this.report(problem, error)),
      on: (news) => this.#onRun(news),
    })
    this.#order = new SessionOrder(
      (event) => this.#show(event),
      (error) => loop.onEnd({ errorCode: codeOf(error), error }),
    )
  }

  /** The parts of the session, once its run has started. Throws before. */
  get parts(): SessionParts<S> {
    if (!this.#parts) throw new ToolwrightError('INTERNAL', 'The live session has not started.')
    return this.#parts
  }

  /** Starts to listen to the run. Throws INVALID_CONFIG if phases, watchers or patterns are wrong. */
  async attach(started: Parameters<LiveRun['attach']>[0]): Promise<void> {
    await this.run.attach(started)
    const { session, options, ports } = this.#options
    this.#parts = makeParts({
      session,
      options,
      ports,
      run: this.run,
      conversation: this.#conversation,
      introduce: (isResumed, send) => this.#introduce(isResumed, send),
      on: (news) => this.#onLink(news),
      onPhase: (change) => this.#onPhase(change),
      report: (problem, error) => this.report(problem, error),
    })
  }

  /** Connects to the model. */
  async connect(): Promise<void> {
    const { options } = this.#options
    const { flow, link, setup } = this.parts
    await this.run.calls.callbacks.enter()
    await setup.read()
    setup.validate(options, this.run.run.data.tree.root)
    await flow.start()
    await link.open(options.signal)
    this.run.calls.announceRequests()
  }

  /** Records messages of the user and sends them, after what the user said before. */
  async write(message: LiveClientMessage, contents: readonly Content[]): Promise<void> {
    const { input } = this.#options
    const { heard } = this.#conversation.spoken
    this.#take(this.#conversation.take({ type: 'wrote' }))
    let behind: Promise<void> | undefined
    await this.#order.run(async () => {
      this.#showAll(await recordHeard(this.run, heard))
      for (const content of contents) await this.run.recordUser(content)
      for (const { parts } of contents) for (const { text } of parts) if (text) input.push({ type: 'text', text })
      behind = this.parts.teller.tell(message)
    })
    await behind
  }

  /** Sends audio, video or activity. */
  async stream(message: LiveClientMessage): Promise<void> {
    this.#conversation.sent(message)
    await this.parts.link.send(message)
  }

  #onLink(news: LinkNews): void {
    switch (news.type) {
      case 'message':
        this.#take(this.#conversation.take({ type: 'received', message: news.message }))
        return
      case 'lost': // what was said so far is recorded; the model will reply again
        this.#take(this.#conversation.lost())
        return
      case 'reconnecting':
        this.#order.emit({ type: 'reconnecting', attempt: news.attempt })
        return
      case 'resumed':
        this.#order.emit({ type: 'resumed' })
        this.#parts?.teller.sendHeld()
        return
      case 'failed':
        this.#options.onEnd({ errorCode: 'CONNECTION_LOST', error: news.error })
        return
      default:
        unreachable(news)
    }
  }

  #onRun(news: RunNews): void {
    switch (news.type) {
      case 'recorded':
        this.#onRecorded(news.event)
        return
      case 'temp':
        this.#parts?.flow.changed({ [news.key]: news.value ?? null })
        return
      case 'progress':
        this.#order.emit({ type: 'toolProgress', id: news.id, name: news.name, value: news.value })
        this.#parts?.teller.respond(this.#parts.calls.update(news.id, news.value))
        return
      case 'request':
        this.#onRequest(news)
        return
      case 'stopped':
        this.#options.onEnd(
          news.reason instanceof ToolwrightError
            ? { errorCode: news.reason.code, error: news.reason }
            : { error: news.reason },
        )
        return
      default:
        unreachable(news)
    }
  }

  #take(commands: readonly Command[]): void {
    for (const command of commands) this.#perform(command)
  }

  #perform(command: Command): void {
    switch (command.type) {
      case 'show':
        this.#order.emit(command.event)
        return
      case 'record':
        this.#record(command)
        return
      case 'dispatch':
        this.#dispatch(command.calls)
        return
      case 'cancel':
        this.#cancel(command.ids)
        return
      case 'drop audio':
        this.#options.queue.dropAudio()
        return
      case 'end turn':
        this.#endTurn()
        return
      case 'check idle':
        this.#checkIdle()
        return
      default:
        unreachable(command)
    }
  }

  #record({ spoken, until }: Command & { type: 'record' }): void {
    this.#order.enqueue(async () => {
      if (until === 'lost') return this.#showAll(await recordUnfinished(this.run, spoken))
      this.#showAll(await recordHeard(this.run, spoken.heard))
      this.#showAll(await recordReply(this.run, spoken, until))
    })
  }

  #dispatch(made: readonly LiveToolCall[]): void {
    const { calls, limit, teller } = this.parts
    if (limit.isOver) return // the session ends
    const { registered, repeated } = calls.register(made, this.#conversation.place)
    teller.respond(...repeated)
    if (registered.length > 0) {
      const { spoken } = this.#conversation
      this.#take(this.#conversation.take({ type: 'called', calls: registered.map(({ call }) => call) }))
      this.#order.enqueue(async () => {
        this.#showAll(await recordHeard(this.run, spoken.heard))
        const { event, refused } = await calls.record(registered, spoken)
        teller.respond(...refused)
        this.#showAll(transcriptOf(spoken.parts, spoken.reply, event))
        this.#show({ type: 'toolCall', calls: registered.map(({ logged }) => logged), event })
        this.#runCalls(registered).catch((error) => this.report('Tool calls could not be run', error))
      })
    }
    if (limit.isOver) void this.#endAfterCalls()
  }

  async #runCalls(registered: Parameters<SessionParts<S>['calls']['decide']>[0]): Promise<void> {
    const { background, foreground, problems } = await this.parts.calls.decide(registered)
    for (const { problem, error } of problems) this.report(problem, error)
    for (const { id, acknowledgement } of background) {
      this.parts.teller.respond(acknowledgement)
      void this.run.calls.dispatch([id]) // alone: no other call waits for it
    }
    if (foreground.length > 0) void this.run.calls.dispatch(foreground)
  }

  /** The session has used its calls: those that run end, and the model gets its last responses. */
  async #endAfterCalls(): Promise<void> {
    const { calls, waits, limit } = this.parts
    await this.#order.run(async () => {}) // the calls are recorded
    const isDone = waits.until(() => calls.openCount === 0)
    await withTimeout(isDone, LAST_CALLS_MS, this.#options.ports, () => {})
    await this.#delivered()
    await this.#order.run(async () => {}) // the responses are shown
    this.#options.onEnd({ errorCode: 'MAX_TOOL_CALLS', error: limit.problem })
  }

  #cancel(providerIds: readonly string[]): void {
    const cancelled = this.parts.calls.cancelByModel(providerIds)
    if (cancelled.length === 0) return
    this.#order.enqueue(async () => {
      this.#show({ type: 'toolCancelled', ids: cancelled.flatMap(({ logId }) => logId ?? []) })
    })
  }

  #endTurn(): void {
    const { flow, setup } = this.parts
    this.#order.enqueue(async () => {
      flow.turnCompleted()
      this.#checkIdle()
      if (setup.isVariable) void this.#refresh() // it may depend on state
    })
  }

  /** A turn has ended, or a response was sent: what waits for an idle model may happen now. */
  #checkIdle(): void {
    this.#parts?.teller.sendHeld()
    this.#parts?.waits.check()
  }

  #onRecorded(event: Event): void {
    const { actions, author, content, isolationScope } = event
    if (actions.stateDelta) this.#parts?.flow.changed(actions.stateDelta)
    if (!this.#parts || isolationScope !== undefined) return
    if (actions.transferToAgent !== undefined) this.#onTransfer(actions.transferToAgent)
    const responses = content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? []
    if (responses.length === 0) return
    if (author !== 'user') {
      this.#deliver(responses, event)
      return
    }
    const { fold } = this.run.run.data
    const own = responses.filter(({ id = '' }) => fold.calls.has(id))
    if (own.length > 0) this.#deliver(own, event)
    if (event.invocationId === this.run.run.invocationId)
      void this.#refresh() // a toolset may have its credential now
    else this.#parts.teller.hold(this.#parts.calls.tellEarlier(responses))
  }

  /** Sends the responses of a recorded event to the model. */
  #deliver(responses: readonly FunctionResponse[], event: Event): void {
    this.#order.emit({ type: 'toolResponse', responses, event })
    const delivery = this.#sendResponses(responses, event)
      .catch((error) => this.report('Tool responses could not be sent', error))
      .finally(() => {
        this.#deliveries.delete(delivery)
        this.#checkIdle()
      })
    this.#deliveries.add(delivery)
  }

  async #sendResponses(responses: readonly FunctionResponse[], event: Event): Promise<void> {
    const { calls, teller } = this.parts
    const answered = calls.close(responses)
    const settling = this.#settling()
    if (settling) await settling
    const loading = this.run.calls.mediaIn(event)
    const { messages, whenIdle } = calls.deliver(answered, loading && (await loading))
    for (const message of messages) void teller.tell(message)
    if (whenIdle) teller.hold(whenIdle)
  }

  /**
   * Settles when the phase fits the state and the model knows its tools, so that it gets them before the result that leads to them.
   * Undefined if that is so now.
   */
  #settling(): Promise<unknown> | undefined {
    const { flow, setup } = this.parts
    const settling = [flow.settled(), setup.settled()].filter((one) => one !== undefined)
    if (settling.length === 0) return undefined
    return withTimeout(Promise.all(settling), SETTLE_MS, this.#options.ports, () => {})
  }

  /** Settles when no result is on its way to the model, soon at the latest. */
  async #delivered(): Promise<void> {
    await withTimeout(Promise.all(this.#deliveries), DELIVERY_MS, this.#options.ports, () => {})
  }

  #onRequest(news: RunNews & { type: 'request' }): void {
    const { request } = news
    this.#order.emit({ type: 'request', request })
    if (request.kind === 'longRunning') return // the model gets the handle
    this.#parts?.teller.respond(this.#parts.calls.waitForHuman(request.functionCallId, request.hint))
    if (request.kind === 'confirmation') this.#options.onConfirmation(news)
  }

  #onTransfer(to: string): void {
    const { setup, link } = this.parts
    this.#order.emit({ type: 'transfer', to })
    const { callbacks } = this.run.calls
    const enter = callbacks.hasChange ? () => callbacks.enter() : undefined
    if (setup.canUpdate) void this.#refresh(enter)
    else if (!enter) void link.renew()
    else enter().then(() => link.renew(), this.#onSetupFailed)
  }

  async #onPhase({ from, to }: { readonly from?: string; readonly to: string }): Promise<void> {
    this.#order.emit({ type: 'phase', ...(from !== undefined && { from }), to })
    await this.#refresh()
  }

  /** Tells the model which instruction and tools have changed. */
  #refresh(before?: () => Promise<void>): Promise<void> {
    const { setup, link } = this.parts
    const send = (message: LiveClientMessage): void => void link.send(message)
    return setup.refresh({ send, renew: () => void link.renew(), before, onFailed: this.#onSetupFailed })
  }

  /** A callback that stops the agent ends the session. Of other failures the next connection knows nothing: it reads all again. */
  readonly #onSetupFailed = (error: unknown): void => {
    if (error instanceof ToolwrightError) this.#options.onEnd({ errorCode: 'AGENT_ERROR', error })
  }

  /** Tells a new connection what it must know, after everything before is recorded and sent. Later messages find it in use. */
  async #introduce(isResumed: boolean, send: (messages: readonly LiveClientMessage[]) => void): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    await this.#order.run(async () => {
      await this.#delivered() // a result that is in the log must not be told a second time
      try {
        send(this.#introduction(isResumed))
      } catch (error) {
        failure = { error }
      }
    })
    if (failure) throw failure.error
  }

  #introduction(isResumed: boolean): readonly LiveClientMessage[] {
    const { calls } = this.parts
    const messages = this.#conversation.introduce({
      knows: isResumed ? 'handle' : 'nothing',
      can: calls.isBlocking ? 'nothing' : 'reply',
      isRunning: (callId) => calls.isOpen(callId),
      history: () => this.run.history(),
    })
    calls.forget(isResumed ? this.#conversation.coveredPlace : undefined)
    return messages
  }

  #showAll(events: readonly LiveEvent[]): void {
    for (const event of events) this.#show(event)
  }

  #show(event: LiveEvent): void {
    const { queue } = this.#options
    this.#parts?.flow.seen(event.type)
    if (event.type === 'interrupted') queue.dropAudio() // also what waited for its turn
    queue.push(event)
  }

  /** Reports a mistake in a hook. */
  report(problem: string, error: unknown): void {
    const { logger } = this.run.run.data.services
    const message = error === undefined ? problem : `${problem}: ${messageOf(error)}`
    this.#order.emit({ type: 'error', errorCode: 'HOOK_FAILED', message })
    try {
      logger.warn(message, error)
    } catch {} // the session goes on without its log lines
  }

  /** Shows why the session ends. */
  showEnd(errorCode: string, message: string): void {
    this.#show({ type: 'error', errorCode, message })
  }

  /** Stops or continues to read from the network. */
  pause(isPaused: boolean): void {
    this.#parts?.link.setPaused(isPaused)
  }

  /** Cuts the connection, and returns what is left to do: to record what was said, and to end the run. */
  close(): (reason: string) => Promise<void> {
    this.#parts?.link.close()
    const { spoken } = this.#conversation
    const last = this.#order.finish(async () => this.#showAll(await recordUnfinished(this.run, spoken)))
    return async (reason) => {
      const ignore = (): void => {} // the run was stopped
      await withTimeout(last.catch(ignore), CLOSE_MS, this.#options.ports, ignore)
      await this.run.close(reason)
      this.#parts?.teller.close()
      this.#parts?.flow.close()
    }
  }
}

/** The code of the error event for something that could not be recorded. */
function codeOf(error: unknown): string {
  return error instanceof ToolwrightError ? error.code : 'INTERNAL'
}
