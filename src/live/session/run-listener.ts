// What happens in the run of a session, and what the model and the consumer get of it.
import { unreachable } from '../../base/unreachable.ts'
import type { Event } from '../../event/event.ts'
import type { ConversationFlow } from '../../flow/conversation-flow.ts'
import type { LiveCalls } from '../../runner/live/live-calls.ts'
import type { RunNews } from '../../runner/live/run-news.ts'
import type { ModelCalls } from './model-calls.ts'
import type { ModelSetup } from './model-setup.ts'
import type { ModelTeller } from './model-teller.ts'
import type { SessionRecorder } from './session-recorder.ts'

/** What follows the run. */
export interface RunListenerOptions {
  /** The run. */
  readonly live: LiveCalls
  /** State and what follows from it. */
  readonly flow: Pick<ConversationFlow<never>, 'changed'>
  /** The calls of the model. */
  readonly calls: ModelCalls
  /** Instruction and tools of the model. */
  readonly setup: ModelSetup
  /** Tells the model. */
  readonly teller: ModelTeller
  /** Shows events to the consumer. */
  readonly recorder: SessionRecorder
  /** A human must confirm a call. */
  onConfirmation(confirmation: RunNews & { type: 'request' }): void
}

/** Passes what happens in the run on. */
export class RunListener {
  readonly #options: RunListenerOptions

  constructor(options: RunListenerOptions) {
    this.#options = options
  }

  /** Takes what has happened. */
  take(news: Exclude<RunNews, { type: 'stopped' }>): void {
    const { live, flow, recorder, teller, calls } = this.#options
    switch (news.type) {
      case 'recorded':
        this.#takeEvent(news.event)
        live.onRecorded(news.event)
        return
      case 'temp':
        flow.changed({ [news.key]: news.value ?? null })
        return
      case 'progress':
        recorder.emit({ type: 'toolProgress', id: news.callId, name: news.name, value: news.value })
        teller.respond(calls.update(news.callId, news.value))
        return
      case 'request':
        this.#takeRequest(news)
        return
      default:
        unreachable(news)
    }
  }

  #takeEvent(event: Event): void {
    const { live, flow, recorder, setup, teller, calls } = this.#options
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
      teller.deliver(delivered, event)
    }
    if (author !== 'user') return
    if (invocationId === own)
      void setup.refresh() // a toolset may have its credential now
    else teller.hold(calls.tellEarlier(responses))
  }

  #takeRequest(news: RunNews & { type: 'request' }): void {
    const { recorder, teller, calls, onConfirmation } = this.#options
    const { request } = news
    recorder.emit({ type: 'request', request })
    if (request.kind === 'longRunning') return // the model gets the handle
    teller.respond(calls.waitForHuman(request.functionCallId, request.hint))
    if (request.kind === 'confirmation') onConfirmation(news)
  }
}
