// The loop of a live session: what its run and its connection report becomes facts, and the session does what follows from them.
import type { Ports } from '../../base/ports.ts'
import { unreachable } from '../../base/unreachable.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { Content } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import { ConversationFlow } from '../../flow/conversation-flow.ts'
import type { LiveCalls } from '../../runner/live/live-calls.ts'
import type { RunNews } from '../../runner/live/run-news.ts'
import type { LiveClientMessage, LiveToolCall } from '../../tool/live-model.ts'
import type { Command } from '../conversation/conversation.ts'
import type { LinkNews } from '../link/link-options.ts'
import type { LiveOptions } from '../live-options.ts'
import { CallLimit } from './call-limit.ts'
import type { LiveEventQueue } from './event-queue.ts'
import { guardedModel } from './guarded-model.ts'
import type { LiveInputHub } from './input-hub.ts'
import { ModelCalls } from './model-calls.ts'
import { ModelSetup } from './model-setup.ts'
import { ModelTeller } from './model-teller.ts'
import { SessionRecorder } from './session-recorder.ts'

/** How long calls that run may take when the session has used its calls. */
const LAST_CALLS_MS = 2_000
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
  /** The run, which has started. */
  readonly live: LiveCalls
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
  readonly #limit: CallLimit
  readonly #setup: ModelSetup
  /** Records and shows, in order. */
  readonly recorder: SessionRecorder
  /** State and what follows from it. */
  readonly flow: ConversationFlow<S>
  /** The calls of the model. */
  readonly calls: ModelCalls
  /** Tells the model messages of the conversation. */
  readonly teller: ModelTeller

  /** Throws INVALID_CONFIG if phases, watchers or patterns are wrong. */
  constructor(loop: LoopOptions<S>) {
    this.#options = loop
    const { session, options, live, ports } = loop
    const { data, log } = live
    this.recorder = new SessionRecorder({
      log,
      queue: loop.queue,
      logger: data.services.logger,
      onShown: (type) => this.flow.seen(type),
      onFailed: (error) => loop.onEnd({ errorCode: error instanceof ToolwrightError ? error.code : 'INTERNAL', error }),
    })
    const { recorder } = this
    const { report } = recorder
    const flow = new ConversationFlow<S>({
      ...options,
      session,
      initial: data.state,
      ports,
      record: (delta) => log.recordState(delta),
      reached: data.view.phase?.phase,
      recorded: options.phases ? undefined : data.phases,
      recordPhase: (phase) => log.recordPhase(phase),
      onPhase: async ({ from, to }) => {
        recorder.emit({ type: 'phase', ...(from !== undefined && { from }), to })
        await this.#setup.refresh()
      },
      report,
    })
    this.flow = flow
    const { model, onToolCall, instruction, reconnect } = options
    const background = new Map(
      Object.entries(options.background ?? {}).map(([name, one]) => [name, one === true ? {} : one]),
    )
    const setup = new ModelSetup({
      model,
      live,
      flow,
      background,
      instruction,
      link: () => this.teller.link,
      // a callback that stops the agent ends the session; of other failures the next connection knows nothing, as it reads all again
      onFailed: (error) => {
        if (error instanceof ToolwrightError) loop.onEnd({ errorCode: 'AGENT_ERROR', error })
      },
    })
    this.#setup = setup
    this.#limit = new CallLimit({ ...options, now: () => ports.monotonicNow() })
    const nonBlocking = model.capabilities?.nonBlocking === true
    this.calls = new ModelCalls({ live, nonBlocking, background, onToolCall, limit: this.#limit, flow, report })
    const { calls } = this
    const on = (news: LinkNews): void => this.#onLink(news)
    this.teller = new ModelTeller({ ...loop, model: guardedModel(model), reconnect, on, flow, setup, calls, recorder })
  }

  /** Connects to the model. */
  async connect(): Promise<void> {
    const { options, live } = this.#options
    await live.plan.enter()
    await this.#setup.read()
    this.#setup.validate(options, live.data.tree.root)
    await this.flow.start()
    await this.teller.link.open(options.signal)
    live.announceRequests()
  }

  /** Records messages of the user and sends them, after what the user said before. */
  async write(message: LiveClientMessage, contents: readonly Content[]): Promise<void> {
    const { input, live } = this.#options
    const { heard } = this.teller.spoken
    this.#take(this.teller.take({ type: 'wrote' }))
    let behind: Promise<void> | undefined
    await this.recorder.run(async () => {
      await this.recorder.recordHeard(heard)
      for (const content of contents) await live.log.recordUser(content, 'written')
      if (input.readers.size > 0)
        for (const { parts } of contents) for (const { text } of parts) if (text) input.push({ type: 'text', text })
      behind = this.teller.tell(message)
    })
    await behind
  }

  #onLink(news: LinkNews): void {
    switch (news.type) {
      case 'message':
        this.#take(this.teller.take({ type: 'received', message: news.message }))
        return
      case 'lost': // what was said so far is recorded; the model will reply again
        this.#take(this.teller.lose())
        return
      case 'reconnecting':
        this.recorder.emit({ type: 'reconnecting', attempt: news.attempt })
        return
      case 'resumed':
        this.recorder.emit({ type: 'resumed' })
        this.teller.checkIdle()
        return
      case 'failed':
        this.#options.onEnd({ errorCode: 'CONNECTION_LOST', error: news.error })
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
        this.recorder.emit(command.event)
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
        this.recorder.enqueue(async () => {
          this.flow.turnCompleted()
          this.teller.checkIdle()
          if (this.#setup.changes === 'with state') void this.#setup.refresh()
        })
        return
      case 'check idle':
        this.teller.checkIdle()
        return
      default:
        unreachable(command)
    }
  }

  #record({ spoken, until }: Command & { type: 'record' }): void {
    this.recorder.enqueue(() =>
      until === 'lost' ? this.recorder.recordUnfinished(spoken) : this.recorder.recordSpoken(spoken, until),
    )
  }

  #dispatch(made: readonly LiveToolCall[]): void {
    if (this.#limit.isOver) return // the session ends
    const { registered, repeated } = this.calls.register(made, this.teller.place)
    this.teller.respond(...repeated)
    if (registered.length > 0) {
      const { spoken } = this.teller
      this.#take(this.teller.take({ type: 'called', calls: registered.map(({ call }) => call) }))
      this.recorder.enqueue(async () => {
        await this.recorder.recordHeard(spoken.heard)
        const { event, refused } = await this.calls.record(registered, spoken)
        this.teller.respond(...refused)
        this.recorder.showTranscript(spoken.parts, spoken.reply, event)
        this.recorder.show({ type: 'toolCall', calls: registered.map(({ logged }) => logged), event })
        this.calls
          .run(registered, (acknowledgement) => this.teller.respond(acknowledgement))
          .catch((error) => this.recorder.report('Tool calls could not be run', error))
      })
    }
    if (this.#limit.isOver) void this.#endAfterCalls()
  }

  /** The session has used its calls: those that run end, and the model gets its last responses. */
  async #endAfterCalls(): Promise<void> {
    await this.recorder.run(async () => {}) // the calls are recorded
    const isDone = this.teller.until(() => this.calls.openCount === 0)
    await withTimeout(isDone, LAST_CALLS_MS, this.#options.ports, () => {})
    await this.teller.delivered()
    await this.recorder.run(async () => {}) // the responses are shown
    this.#options.onEnd({ errorCode: 'MAX_TOOL_CALLS', error: this.#limit.problem })
  }

  #cancel(providerIds: readonly string[]): void {
    const cancelled = this.calls.cancelByModel(providerIds)
    if (cancelled.length === 0) return
    this.recorder.enqueue(async () => {
      this.recorder.show({ type: 'toolCancelled', ids: cancelled.flatMap(({ logId }) => logId ?? []) })
    })
  }

  /** Cuts the connection and records what was said. */
  async disconnect(): Promise<void> {
    this.teller.link.close()
    const { spoken } = this.teller
    const ignore = (): void => {} // the run was stopped
    const last = this.recorder.finish(() => this.recorder.recordUnfinished(spoken))
    await withTimeout(last.catch(ignore), CLOSE_MS, this.#options.ports, ignore)
  }

  /** Stops timers and watchers. */
  close(): void {
    this.teller.close()
    this.flow.close()
  }
}
