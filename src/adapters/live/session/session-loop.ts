// The loop of a live session: what its run and its connection report becomes facts, and the session does what follows from them.
import { unreachable } from '../../../core/base/unreachable.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { Content } from '../../../core/content/content.ts'
import { ConversationFlow } from '../../../engine/flow/conversation-flow.ts'
import type { LiveClientMessage, LiveToolCall } from '../../../engine/model/live-model.ts'
import type { Command } from '../conversation/conversation.ts'
import type { LinkNews } from '../link/link-options.ts'
import { ModelCalls } from './model-calls.ts'
import { ModelSetup } from './model-setup.ts'
import { ModelTeller } from './model-teller.ts'
import type { SessionBase } from './session-base.ts'
import type { SessionParts } from './session-parts.ts'
import { SessionRecorder } from './session-recorder.ts'

/** How long calls that run may take when the session has used its calls. */
const LAST_CALLS_MS = 2_000
/** How long the end of the session waits for what is being recorded. */
const CLOSE_MS = 2_000

/** The loop of a live session. */
export class SessionLoop<S> {
  readonly #base: SessionBase<S>
  readonly #setup: ModelSetup
  /** Records and shows, in order. */
  readonly recorder: SessionRecorder
  /** State and what follows from it. */
  readonly flow: ConversationFlow<S>
  /** The calls of the model. */
  readonly calls: ModelCalls
  /** Tells the model messages of the conversation. */
  readonly teller: ModelTeller

  /** `session`: for hooks. Throws INVALID_CONFIG if phases, watchers or patterns are wrong. */
  constructor(session: S, base: SessionBase<S>) {
    this.#base = base
    const { options, live, ports } = base
    const { data, log } = live
    let flow: ConversationFlow<S> | undefined // it may report computed values that fail while it is made
    const recorder = new SessionRecorder({ ...base, onShown: (type) => flow?.seen(type) })
    flow = new ConversationFlow<S>({
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
      onHook: (hook, name) => recorder.emit({ type: 'hook', hook, name }),
      report: recorder.report,
    })
    const background = new Map(
      Object.entries(options.background ?? {}).map(([name, one]) => [name, one === true ? {} : one]),
    )
    const parts: SessionParts = { ...base, recorder, flow, background }
    const setup = new ModelSetup(parts, () => this.teller.link)
    const calls = new ModelCalls(parts)
    this.recorder = recorder
    this.flow = flow
    this.calls = calls
    this.teller = new ModelTeller({ ...parts, setup, calls, on: (news) => this.#onLink(news) })
    this.#setup = setup
  }

  /** Connects to the model. */
  async connect(): Promise<void> {
    const { options, live } = this.#base
    await live.plan.enter()
    await this.#setup.read()
    this.#setup.validate()
    await this.flow.start()
    await this.teller.link.open(options.signal)
    live.announceRequests()
  }

  /** Records messages of the user and sends them, after what the user said before. */
  async write(message: LiveClientMessage, contents: readonly Content[]): Promise<void> {
    const { input, live } = this.#base
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
        this.#base.onEnd({ errorCode: 'CONNECTION_LOST', error: news.error })
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
        this.#base.queue.dropAudio()
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
    if (this.calls.limit.isOver) return // the session ends
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
    if (this.calls.limit.isOver) void this.#endAfterCalls()
  }

  /** The session has used its calls: those that run end, and the model gets its last responses. */
  async #endAfterCalls(): Promise<void> {
    await this.recorder.run(async () => {}) // the calls are recorded
    const isDone = this.teller.until(() => this.calls.openCount === 0)
    await withTimeout(isDone, LAST_CALLS_MS, this.#base.ports, () => {})
    await this.teller.delivered()
    await this.recorder.run(async () => {}) // the responses are shown
    this.#base.onEnd({ errorCode: 'MAX_TOOL_CALLS', error: this.calls.limit.problem })
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
    await withTimeout(last.catch(ignore), CLOSE_MS, this.#base.ports, ignore)
  }

  /** Stops timers and watchers. */
  close(): void {
    this.teller.close()
    this.flow.close()
  }
}
