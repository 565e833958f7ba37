// Tells the model what it does not know: now, when the model is idle, or again on a new connection.
import { unreachable } from '../../../core/base/unreachable.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { FunctionResponse } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import { type LiveClientMessage, LiveConnectionError } from '../../../engine/model/live-model.ts'
import type { RunNews } from '../../../engine/runner/live/run-news.ts'
import {
  type Command,
  commandsFor,
  factsIn,
  NEW_CONVERSATION,
  reduce,
  type Spoken,
  spokenIn,
} from '../conversation/conversation.ts'
import type { Fact, Happening } from '../conversation/fact.ts'
import { type HeldResults, heldForMs, heldMessage } from '../conversation/held.ts'
import { introduce } from '../conversation/introduce.ts'
import { canResume, isCovering } from '../conversation/since-handle.ts'
import { isBusy, isReplyWhole } from '../conversation/turn.ts'
import type { LinkOptions } from '../link/link-options.ts'
import { LiveLink } from '../link/live-link.ts'
import { guardedModel } from './guarded-model.ts'
import type { ModelCalls } from './model-calls.ts'
import type { ModelSetup } from './model-setup.ts'
import type { SessionParts } from './session-parts.ts'

/** How long a tool response waits until the model knows the tools of a new phase or agent. */
const SETTLE_MS = 1_000
/** How long a new connection waits for results that are on their way to the model. */
const DELIVERY_MS = 2_000

/** What telling the model depends on, besides what all parts share. */
export interface TellerOptions extends SessionParts, Pick<LinkOptions, 'on'> {
  /** Instruction and tools of the model. */
  readonly setup: ModelSetup
  /** The calls, for which the model may wait. */
  readonly calls: ModelCalls
}

/** Tells the model messages of the conversation, and knows what it knows. */
export class ModelTeller {
  readonly #options: TellerOptions
  #known = NEW_CONVERSATION
  /** Results that are recorded and not sent yet. */
  readonly #deliveries: Set<Promise<void>> = new Set()
  /** What waits for an idle model, or for the end of all calls. */
  readonly #waiting: Set<{ holds(): boolean; resolve(): void }> = new Set()
  /** Stops the wait of held results. */
  #cancelTimer: (() => void) | undefined
  /** The connection. */
  readonly link: LiveLink

  constructor(options: TellerOptions) {
    this.#options = options
    const { setup, on, ports, calls, recorder } = options
    const { model, reconnect = {} } = options.options
    this.link = new LiveLink({
      model: guardedModel(model),
      reconnect,
      ports,
      setup: () => setup.read(),
      on,
      onHandle: () => this.#cover(),
      canResume: () => canResume(this.#known.since),
      whenIdle: () => this.until(() => !isBusy(this.#known.turns) && !calls.isBlocking),
      // after everything before is recorded and sent; later messages find the connection in use
      introduce: (isResumed, send) =>
        recorder.attempt(async () => {
          await this.delivered() // a result that is in the log must not be told a second time
          send(this.#introduction(isResumed))
        }),
    })
  }

  /** What was said and is not recorded yet. */
  get spoken(): Spoken {
    return spokenIn(this.#known, 'here')
  }
  /** The place of the latest calls. */
  get place(): number {
    return this.#known.place
  }

  /** Takes what happened now. Returns what the session must do about it. */
  take(happening: Happening): readonly Command[] {
    return this.#take({ ...happening, at: this.#options.ports.monotonicNow() })
  }

  #take(fact: Fact): readonly Command[] {
    const before = this.#known
    this.#known = reduce(before, fact)
    return commandsFor(before, fact)
  }

  /** The connection is gone. Returns what the session must do about it. */
  lose(): readonly Command[] {
    // no other connection would say that the turn is complete
    const ended = isReplyWhole(this.#known.turns)
      ? this.take({ type: 'received', message: { type: 'turnComplete' } })
      : []
    return [...ended, ...this.take({ type: 'lost' })]
  }

  /** A handle has arrived. Returns false if it may miss a part of the conversation. */
  #cover(): boolean {
    const isUsable = isCovering(this.#known.since)
    this.take({ type: 'handle' })
    return isUsable
  }

  /** Follows the run: tells the model and the consumer what has happened. */
  follow(news: Exclude<RunNews, { type: 'stopped' }>): void {
    const { live, flow, recorder, calls, onConfirmation } = this.#options
    switch (news.type) {
      case 'recorded':
        this.#followEvent(news.event)
        live.onRecorded(news.event)
        return
      case 'temp':
        flow.changed({ [news.key]: news.value ?? null })
        return
      case 'progress':
        recorder.emit({ type: 'toolProgress', id: news.callId, name: news.name, value: news.value })
        this.respond(calls.open(news.callId)?.update(news.value))
        return
      case 'request':
        recorder.emit({ type: 'request', request: news.request })
        if (news.request.kind === 'longRunning') return // the model gets the handle
        this.respond(calls.open(news.request.functionCallId)?.waitForHuman(news.request.hint))
        if (news.request.kind === 'confirmation') onConfirmation(news)
        return
      default:
        unreachable(news)
    }
  }

  #followEvent(event: Event): void {
    const { live, flow, recorder, setup, calls } = this.#options
    const { actions, author, content, isolationScope, invocationId } = event
    if (actions.stateDelta) flow.changed(actions.stateDelta)
    if (isolationScope !== undefined) return
    if (actions.transferToAgent !== undefined) {
      recorder.emit({ type: 'transfer', to: actions.transferToAgent })
      setup.changeAgent()
    }
    const responses = content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? []
    if (responses.length === 0) return
    const { fold, invocationId: own } = live.data
    const delivered = author === 'user' ? responses.filter(({ id = '' }) => fold.calls.has(id)) : responses
    if (delivered.length > 0) {
      recorder.emit({ type: 'toolResponse', responses: delivered, event })
      this.deliver(delivered, event)
    }
    if (author !== 'user') return
    if (invocationId === own)
      void setup.refresh() // a toolset may have its credential now
    else this.hold(calls.tellEarlier(responses))
  }

  /** Sends audio, video or activity. */
  async stream(message: LiveClientMessage): Promise<void> {
    this.#sent(message)
    await this.link.send(message)
  }

  /** Sends a message. A new connection gets it again if the model does not know it by then. */
  tell(message: LiveClientMessage): Promise<void> | undefined {
    try {
      const behind = this.link.tell(message)
      this.#sent(message)
      return behind
    } catch (error) {
      this.#options.recorder.report('The model cannot take a message', error)
      return undefined
    }
  }

  /** Takes a message that was sent, or waits for a connection. */
  #sent(message: LiveClientMessage): void {
    for (const fact of factsIn(message, this.#options.ports.monotonicNow())) this.#take(fact)
  }

  /** Sends responses to calls as one message. */
  respond(...responses: readonly (FunctionResponse | undefined)[]): void {
    const given = responses.filter((response) => response !== undefined)
    if (given.length > 0) void this.tell({ type: 'toolResponses', responses: given })
  }

  /** Sends the responses of a recorded event. */
  deliver(responses: readonly FunctionResponse[], event: Event): void {
    const end = (): void => {
      this.#deliveries.delete(delivery)
      this.checkIdle()
    }
    const delivery = this.#deliver(responses, event).then(end, (error) => {
      this.#options.recorder.report('Tool responses could not be sent', error)
      end()
    })
    this.#deliveries.add(delivery)
  }

  async #deliver(responses: readonly FunctionResponse[], { content }: Event): Promise<void> {
    const { calls, live, flow, setup, ports } = this.#options
    const answered = calls.close(responses)
    // the model gets the tools of a phase before the result that leads to it
    const before = [flow.settled(), setup.refreshing].filter((one) => one !== undefined)
    if (before.length > 0) await withTimeout(Promise.all(before), SETTLE_MS, ports, () => {})
    const loading = live.log.mediaIn(content)
    const { messages, whenIdle } = calls.deliver(answered, loading && (await loading))
    for (const message of messages) void this.tell(message)
    if (whenIdle) this.hold(whenIdle)
  }

  /** Settles when no result is on its way to the model, soon at the latest. */
  async delivered(): Promise<void> {
    await withTimeout(Promise.all(this.#deliveries), DELIVERY_MS, this.#options.ports, () => {})
  }

  /** Sends results once the model is idle. */
  hold(results: HeldResults): void {
    this.take({ type: 'held', ...results })
    this.#sendHeld()
  }

  /** A turn has ended, or a response was sent: what waits for an idle model may happen now. */
  checkIdle(): void {
    this.#sendHeld()
    for (const one of this.#waiting) {
      if (!one.holds()) continue
      this.#waiting.delete(one)
      one.resolve()
    }
  }

  /** Settles when a condition holds, now or at a later `checkIdle()`. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve()
    return new Promise((resolve) => void this.#waiting.add({ holds, resolve }))
  }

  /** Sends held results if the model is idle. Otherwise when it has been quiet for long enough. */
  #sendHeld(): void {
    const { calls, ports } = this.#options
    const { held } = this.#known
    if (held.length === 0) return
    const ms = heldForMs(this.#known, { isBlocked: calls.isBlocking, now: ports.monotonicNow() })
    if (!ms) {
      this.close()
      this.take({ type: 'released' })
      void this.tell(heldMessage(held))
      return
    }
    const check = (): void => {
      this.#cancelTimer = undefined
      this.#sendHeld()
    }
    this.#cancelTimer ??= ports.setTimer(check, ms, { background: true })
  }

  /** What a new connection must be told. Throws if its handle no longer fits the conversation. */
  #introduction(isResumed: boolean): readonly LiveClientMessage[] {
    const { calls, live, ports } = this.#options
    const told = introduce(this.#known, {
      at: ports.monotonicNow(),
      knows: isResumed ? 'handle' : 'nothing',
      can: calls.isBlocking ? 'nothing' : 'reply',
      isRunning: (callId) => calls.open(callId) !== undefined,
      history: () => live.log.history(),
    })
    if (!told) throw new LiveConnectionError('The handle no longer fits the conversation.', { recover: 'fresh' })
    this.#take(told.fact)
    calls.forget(isResumed ? this.#known.coveredPlace : undefined)
    return told.messages
  }

  /** Waits no longer. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }
}
