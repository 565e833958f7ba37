// One live session: passes what the user sends to the model, what the model sends to the consumer, and its tool calls to the
// dispatcher, through all reconnects.
import type { Ports } from '../../base/ports.ts'
import { unreachable } from '../../base/unreachable.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { Content, FunctionResponse, Part } from '../../content/content.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import type { PhaseChange } from '../../flow/phases/live-phase.ts'
import { LiveRun } from '../../runner/live/live-run.ts'
import type { Runner } from '../../runner/runner.ts'
import type { State } from '../../tool/context.ts'
import type { LiveEvent } from '../../tool/live-event.ts'
import { type LiveClientMessage, LiveConnectionError, type LiveToolCall } from '../../tool/live-model.ts'
import { type Command, commandsFor, spokenIn } from '../conversation/commands.ts'
import { type Conversation, introduce, NEW_CONVERSATION, reduce } from '../conversation/conversation.ts'
import { type Fact, factsIn } from '../conversation/fact.ts'
import { isCovering } from '../conversation/since-handle.ts'
import { isReplyWhole } from '../conversation/turn.ts'
import type { LiveOptions } from '../live-options.ts'
import { adviseProvider, answerRequest, checkAnswers } from './answer-request.ts'
import { LiveEventQueue } from './event-queue.ts'
import { LiveInputHub } from './input-hub.ts'
import { type LiveMessage, readLiveMessage } from './live-message.ts'
import { recordHeard, recordReply, recordUnfinished, transcriptOf } from './record-speech.ts'
import { SessionOrder } from './session-order.ts'
import { liveComputed, livePhases, makeParts, type SessionParts } from './session-parts.ts'

/** How long the end of the session waits for what is being recorded. */
const CLOSE_MS = 2_000

/**
 * A live session. Iterate it for its events; leaving the loop closes it. Tools, gates and state are those of the runner, and
 * everything is recorded in the event log of the session.
 */
export class LiveSession implements AsyncIterable<LiveEvent> {
  readonly #options: LiveOptions<LiveSession>
  readonly #runner: Runner
  readonly #ports: Ports
  readonly #run: LiveRun
  readonly #input = new LiveInputHub()
  readonly #queue: LiveEventQueue
  #conversation: Conversation = NEW_CONVERSATION
  readonly #ended = Promise.withResolvers<void>()
  readonly #order: SessionOrder
  #started: SessionParts<LiveSession> | undefined
  #closing: Promise<void> | undefined
  #isIterated = false
  /** The user of the session. */
  readonly userId: string

  /** @internal Use `connectLive()`. */
  constructor(options: LiveOptions<LiveSession>, runner: Runner, ports: Ports) {
    this.#options = options
    this.#runner = runner
    this.#ports = ports
    this.userId = options.userId ?? 'user'
    this.#queue = new LiveEventQueue((isFull) => this.#started?.link.setPaused(isFull && this.#isIterated))
    const { beforeToolResponse } = options
    this.#run = new LiveRun({
      model: options.model,
      textModel: options.textModel,
      phases: options.phases && livePhases(() => this.#started?.flow),
      derived: liveComputed(options, () => this.#started?.flow),
      input: this.#input,
      changeResponses: beforeToolResponse && ((responses, state) => this.#changeResponses(responses, state)),
      onRecorded: (event) => this.#onRecorded(event),
      onTempChanged: (key, value) => this.#started?.flow.changed({ [key]: value ?? null }),
      onProgress: (id, name, value) => this.#onProgress(id, name, value),
      onRequest: (request, signal) => this.#onRequest(request, signal),
      onStopped: (reason) => this.#onStopped(reason),
    })
    this.#order = new SessionOrder(
      (event) => this.#show(event),
      (error) => this.#fail(codeOf(error), error),
    )
  }

  /** @internal Starts the run, then connects. */
  async open(): Promise<void> {
    const { userId, sessionId, state, runConfig, runContext, signal } = { ...this.#options, userId: this.userId }
    signal?.throwIfAborted()
    const request = { userId, sessionId, stateDelta: state, runConfig, runContext }
    try {
      await this.#run.attach(await this.#runner.startLive({ request, live: this.#run }))
      this.#started = this.#start()
      if (this.#closing) throw new ToolwrightError('INVALID_REQUEST', 'The live session was stopped while it started.')
      const { flow, link, setup } = this.#started
      await this.#run.calls.callbacks.enter()
      await setup.read()
      setup.validate(this.#options, this.#runner.agent)
      await flow.start()
      await link.open(signal)
      this.#run.calls.announceRequests()
    } catch (error) {
      await this.#end(`The session could not start: ${messageOf(error)}`)
      throw error
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (signal?.aborted) await this.close()
  }

  readonly #onAbort = (): void => void this.close()

  #start(): SessionParts<LiveSession> {
    return makeParts<LiveSession>({
      session: this,
      options: this.#options,
      run: this.#run,
      conversation: () => this.#conversation,
      ports: this.#ports,
      link: {
        introduce: (isResumed, send) => this.#introduce(isResumed, send),
        onMessage: (message) => this.#take({ type: 'received', at: this.#now, message }),
        onHandle: () => this.#onHandle(),
        onLost: () => this.#onLost(),
        onReconnecting: (attempt) => this.#order.emit({ type: 'reconnecting', attempt }),
        onResumed: () => {
          this.#order.emit({ type: 'resumed' })
          this.#started?.held.send()
        },
      },
      onConnectionLost: (message) => this.#fail('CONNECTION_LOST', message),
      ordered: () => this.#order.run(async () => {}),
      onPhase: (change) => this.#onPhase(change),
      tell: (message) => void this.#tell(message),
      emit: (event) => this.#order.emit(event),
      report: (problem, error) => this.#report(problem, error),
    })
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
    return this.#parts.flow.state
  }
  /** The name of the current phase. Undefined without phases. */
  get phase(): string | undefined {
    return this.#parts.flow.phase
  }
  /** The latest changes of the phase, at most 100. */
  get phaseHistory(): readonly PhaseChange[] {
    return this.#parts.flow.history
  }
  /** The calls without their final response. */
  get openCalls(): number {
    return this.#parts.wire.openCount
  }
  /** Settles when the session has ended, for whatever reason. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }
  get #parts(): SessionParts<LiveSession> {
    if (!this.#started) throw new ToolwrightError('INTERNAL', 'The live session has not started.')
    return this.#started
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
    const { link } = this.#parts
    if (input.type === 'text' || input.type === 'content') {
      await this.#sendMessage(input)
      return
    }
    this.#input.push(input)
    for (const fact of factsIn(input, this.#now)) this.#take(fact)
    await link.send(input)
  }

  async #sendMessage(input: LiveClientMessage & { type: 'text' | 'content' }): Promise<void> {
    const contents: readonly Content[] =
      input.type === 'text' ? [{ role: 'user', parts: [{ text: input.text }] }] : input.contents
    const { heard } = spokenIn(this.#conversation, 'here') // what the user said before
    this.#take({ type: 'wrote', at: this.#now })
    let behind: Promise<void> | undefined
    await this.#order.run(async () => {
      this.#showAll(await recordHeard(this.#run, heard))
      for (const content of contents) await this.#run.recordUser(content)
      for (const { parts } of contents) for (const { text } of parts) if (text) this.#input.push({ type: 'text', text })
      behind = this.#tell(input)
    })
    await behind
  }

  /** Sends a message of the conversation. A new connection gets it again if the model does not know it by then. */
  #tell(message: LiveClientMessage): Promise<void> | undefined {
    try {
      const behind = this.#parts.link.tell(message)
      for (const fact of factsIn(message, this.#now)) this.#take(fact)
      return behind
    } catch (error) {
      this.#report('The model cannot take a message', error)
      return undefined
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

  #throwIfClosed(): void {
    if (this.#closing) throw new ToolwrightError('INVALID_REQUEST', 'The live session is closed. Connect a new one.')
  }

  /** Cancels running calls, and tells the model. The ids are those of the event `toolCall`; calls that have ended are ignored. */
  async cancelCalls(callIds: readonly string[], reason = 'The app cancelled the call.'): Promise<void> {
    this.#parts.wire.cancelHere(callIds)
    await this.#run.calls.cancel(callIds, reason)
  }

  /** Moves to a phase, whatever its conditions say. */
  async enterPhase(name: string): Promise<void> {
    this.#throwIfClosed()
    await this.#parts.flow.enter(name)
  }

  /** The events of the session. It can be iterated once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent, void, undefined> {
    if (this.#isIterated)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        'A live session can be iterated once. Pass its events on from the first loop, or connect a new session.',
      )
    this.#isIterated = true
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

  /** The time of a fact. */
  get #now(): number {
    return this.#ports.monotonicNow()
  }

  /** Takes a fact: what is known changes, and the session does what follows. */
  #take(fact: Fact): void {
    const before = this.#conversation
    this.#conversation = reduce(before, fact)
    for (const command of commandsFor(before, fact)) this.#perform(command)
  }

  #perform(command: Command): void {
    switch (command.type) {
      case 'show':
        return this.#order.emit(command.event)
      case 'record':
        return this.#record(command)
      case 'dispatch':
        return this.#dispatch(command.calls)
      case 'cancel':
        return this.#cancel(command.ids)
      case 'drop audio':
        return this.#queue.dropAudio()
      case 'end turn':
        return this.#endTurn()
      case 'check idle':
        return this.#started?.checkIdle()
      default:
        return unreachable(command)
    }
  }

  #record({ spoken, until }: Command & { type: 'record' }): void {
    const run = this.#run
    this.#order.enqueue(async () => {
      if (until === 'lost') return this.#showAll(await recordUnfinished(run, spoken))
      this.#showAll(await recordHeard(run, spoken.heard))
      this.#showAll(await recordReply(run, spoken, until))
    })
  }

  #dispatch(calls: readonly LiveToolCall[]): void {
    const { wire, limit, settleCalls } = this.#parts
    if (limit.isOver) return // the session ends
    const registered = wire.register(calls)
    if (registered.length > 0) {
      const spoken = spokenIn(this.#conversation, 'here')
      this.#take({ type: 'called', at: this.#now, calls: registered.map(({ call }) => call) })
      this.#order.enqueue(async () => {
        this.#showAll(await recordHeard(this.#run, spoken.heard))
        const event = await wire.record(registered, spoken)
        this.#showAll(transcriptOf(spoken.parts, spoken.reply, event))
        this.#show({ type: 'toolCall', calls: registered.map(({ logged }) => logged), event })
        wire.run(registered).catch((error) => this.#report('Tool calls could not be run', error))
      })
    }
    if (limit.isOver) void settleCalls().then(() => this.#fail('MAX_TOOL_CALLS', limit.problem))
  }

  #cancel(wireIds: readonly string[]): void {
    const cancelled = this.#parts.wire.cancelByModel(wireIds)
    if (cancelled.length === 0) return
    this.#order.enqueue(async () => {
      this.#show({ type: 'toolCancelled', ids: cancelled.flatMap(({ logId }) => logId ?? []) })
    })
  }

  #endTurn(): void {
    const { flow, setup } = this.#parts
    this.#order.enqueue(async () => {
      flow.turnCompleted()
      this.#started?.checkIdle()
      if (setup.isVariable) void this.#refresh(setup) // it may depend on state
    })
  }

  #onRecorded(event: Event): void {
    const { actions, author, content, isolationScope } = event
    if (actions.stateDelta) this.#started?.flow.changed(actions.stateDelta)
    if (!this.#started || isolationScope !== undefined) return
    if (actions.transferToAgent !== undefined) this.#onTransfer(actions.transferToAgent)
    const responses = content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? []
    if (responses.length === 0) return
    const { deliveries, setup } = this.#started
    if (author !== 'user') {
      deliveries.deliver(responses, event)
      return
    }
    const isOfThisSession = event.invocationId === this.invocationId
    deliveries.deliverResults(responses, event, isOfThisSession)
    if (isOfThisSession) void this.#refresh(setup) // a toolset may have its credential now
  }

  #onProgress(id: string, name: string, value: unknown): void {
    this.#order.emit({ type: 'toolProgress', id, name, value })
    this.#started?.wire.update(id, value)
  }

  #onRequest(request: Parameters<typeof answerRequest>[0], signal: AbortSignal): void {
    this.#order.emit({ type: 'request', request })
    if (request.kind === 'longRunning') return // the model gets the handle
    this.#started?.wire.acknowledgeWaiting(request.functionCallId, request.hint)
    if (request.kind !== 'confirmation') return
    const { confirmationProvider, allowUnconfirmed = false } = this.#options
    void answerRequest(request, signal, {
      run: this.#run.run.data,
      confirmationProvider,
      allowUnconfirmed,
      answer: (part) => this.answer(part),
      report: (problem, error) => this.#report(problem, error),
    })
  }

  #onTransfer(to: string): void {
    const { setup, link } = this.#parts
    this.#order.emit({ type: 'transfer', to })
    const { callbacks } = this.#run.calls
    const enter = callbacks.hasChange ? () => callbacks.enter() : undefined
    if (setup.canUpdate) void this.#refresh(setup, enter)
    else if (!enter) void link.renew()
    else enter().then(() => link.renew(), this.#onSetupFailed)
  }

  async #onPhase({ from, to }: { readonly from?: string; readonly to: string }): Promise<void> {
    this.#order.emit({ type: 'phase', ...(from !== undefined && { from }), to })
    await this.#refresh(this.#parts.setup)
  }

  /** Tells the model which instruction and tools have changed. */
  #refresh(setup: SessionParts<LiveSession>['setup'], before?: () => Promise<void>): Promise<void> {
    const send = (message: LiveClientMessage): void => void this.#parts.link.send(message)
    const renew = (): void => void this.#parts.link.renew()
    return setup.refresh({ send, renew, before, onFailed: this.#onSetupFailed })
  }

  /** A callback that stops the agent ends the session. Of other failures the next connection knows nothing: it reads all again. */
  readonly #onSetupFailed = (error: unknown): void => {
    if (error instanceof ToolwrightError) this.#fail('AGENT_ERROR', error)
  }

  async #changeResponses(responses: readonly FunctionResponse[], state: State): Promise<readonly FunctionResponse[]> {
    try {
      return (await this.#options.beforeToolResponse?.({ responses, state })) ?? []
    } catch (error) {
      this.#report('beforeToolResponse failed, so its responses are withheld', error)
      return []
    }
  }

  /** A handle has arrived. Returns false if it may miss a part of the conversation. */
  #onHandle(): boolean {
    const isUsable = isCovering(this.#conversation.since)
    this.#take({ type: 'handle', at: this.#now })
    return isUsable
  }

  /** The connection is gone. What was said so far is recorded. The model will reply again. */
  #onLost(): void {
    const at = this.#now
    // no other connection would say that the turn is complete
    if (isReplyWhole(this.#conversation.turns)) this.#take({ type: 'received', at, message: { type: 'turnComplete' } })
    this.#take({ type: 'lost', at })
  }

  /** Tells a new connection what it must know, after everything before is recorded and sent. Later messages find it in use. */
  async #introduce(isResumed: boolean, send: (messages: readonly LiveClientMessage[]) => void): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    await this.#order.run(async () => {
      // a result that is in the log must not be told a second time
      await this.#parts.deliveries.settled()
      try {
        send(this.#introduction(isResumed))
      } catch (error) {
        failure = { error }
      }
    })
    if (failure) throw failure.error
  }

  #introduction(isResumed: boolean): readonly LiveClientMessage[] {
    const { wire, held } = this.#parts
    const isResultDue = !isResumed && held.take()?.turnComplete === true // a new conversation gets it from the log
    const told = introduce(this.#conversation, {
      at: this.#now,
      knows: isResumed ? 'handle' : 'nothing',
      can: wire.isBlocking ? 'nothing' : 'reply',
      isResultDue,
      isRunning: (callId) => wire.isOpen(callId),
      history: () => this.#run.history(),
    })
    if (!told) throw new LiveConnectionError('The handle no longer fits the conversation.', { recover: 'fresh' })
    wire.forget(isResumed ? this.#conversation.coveredPlace : undefined)
    this.#take(told.fact)
    return told.messages
  }

  #showAll(events: readonly LiveEvent[]): void {
    for (const event of events) this.#show(event)
  }

  #show(event: LiveEvent): void {
    this.#started?.flow.seen(event.type)
    if (event.type === 'interrupted') this.#queue.dropAudio() // also what waited for its turn
    this.#queue.push(event)
  }

  #report(problem: string, error: unknown): void {
    const { logger } = this.#run.run.data.services
    const message = error === undefined ? problem : `${problem}: ${messageOf(error)}`
    this.#order.emit({ type: 'error', errorCode: 'HOOK_FAILED', message })
    try {
      logger.warn(message, error)
    } catch {} // the session goes on without its log lines
  }

  /** The run was stopped from outside. */
  #onStopped(reason: unknown): void {
    if (reason instanceof ToolwrightError) this.#fail(reason.code, reason)
    else void this.#end(messageOf(reason))
  }

  #fail(errorCode: string, error: unknown): void {
    if (this.#closing) return
    const message = messageOf(error)
    this.#show({ type: 'error', errorCode, message })
    void this.#end(message)
  }

  #end(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: string): Promise<void> {
    this.#started?.link.close()
    this.#input.close()
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    const unfinished = spokenIn(this.#conversation, 'here')
    const last = this.#order.finish(async () => this.#showAll(await recordUnfinished(this.#run, unfinished)))
    const ignore = (): void => {} // the run was stopped
    await withTimeout(last.catch(ignore), CLOSE_MS, this.#ports, ignore)
    await this.#run.close(reason)
    this.#started?.held.take()
    this.#started?.flow.close()
    if (!this.#options.runner) await this.#runner.close().catch(ignore)
    this.#queue.end({ type: 'closed', reason })
    this.#ended.resolve()
  }
}

/** The code of the error event for something that could not be recorded. */
function codeOf(error: unknown): string {
  return error instanceof ToolwrightError ? error.code : 'INTERNAL'
}
