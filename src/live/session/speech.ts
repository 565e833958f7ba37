// What the user and the model say: collected from the messages of the model, recorded in order, and remembered for a reconnect.
import type { Part } from '../../content/content.ts'
import type { Event } from '../../event/event.ts'
import type { LiveReply } from '../../runner/live/live-reply.ts'
import type { LiveRun } from '../../runner/live/live-run.ts'
import type { LiveEvent } from '../../tool/live-event.ts'
import type { LiveServerMessage } from '../../tool/live-model.ts'
import { LiveTurn } from './live-turn.ts'
import type { ModelMemory } from './model-memory.ts'
import type { SessionOrder } from './session-order.ts'
import type { WireCall } from './wire-call.ts'
import type { WireCalls } from './wire-calls.ts'

/** What speech is recorded with. */
export interface SpeechOptions {
  /** The run. */
  readonly run: LiveRun
  /** What the model knows. */
  readonly memory: ModelMemory
  /** The order of recording. */
  readonly order: SessionOrder
  /** Shows an event to the consumer at once. */
  show(event: LiveEvent): void
}

/** The speech of a live session. */
export class Speech {
  readonly #options: SpeechOptions
  readonly #turn = new LiveTurn()

  constructor(options: SpeechOptions) {
    this.#options = options
  }

  /** Adds a message of the model. */
  add(message: LiveServerMessage): void {
    this.#turn.add(message)
  }

  /** Takes what the user said. */
  takeHeard(): string {
    const heard = this.#turn.takeHeard()
    this.#options.memory.heard(heard)
    return heard
  }

  /** Records what the user said, and shows it. */
  async recordHeard(heard: string): Promise<void> {
    if (heard === '') return
    const { run, show } = this.#options
    const event = await run.recordUser({ role: 'user', parts: [{ text: heard }] }, { transcribed: true })
    show({ type: 'inputTranscript', text: heard, finished: true, event })
  }

  /** Records calls, with what was said before them, and shows both. */
  recordCalls(wire: WireCalls, registered: readonly WireCall[], then: () => void): void {
    const { memory, order, show } = this.#options
    const heard = this.takeHeard()
    const spoken = this.#turn.takeReply()
    memory.said(spoken.parts)
    memory.called(registered.map(({ call }) => call))
    order.enqueue(async () => {
      await this.recordHeard(heard)
      const event = await wire.record(registered, spoken)
      this.#showTranscript(spoken.parts, spoken.reply, event)
      show({ type: 'toolCall', calls: registered.map(({ logged }) => logged), event })
      then()
    })
  }

  /** Records what was said, and shows the end of the turn. */
  recordTurn(interrupted: boolean): void {
    const { run, memory, order, show } = this.#options
    const heard = interrupted ? this.#turn.takeHeardBeforeReply() : this.#turn.takeHeardAtEnd()
    memory.heard(heard)
    const { parts, reply } = this.#turn.takeReply()
    memory.said(parts)
    const { usageMetadata } = reply
    order.enqueue(async () => {
      await this.recordHeard(heard)
      let event: Event | undefined
      if (parts.length || (!interrupted && run.isTurnOpen)) {
        event = await run.recordReply(parts, interrupted ? { ...reply, interrupted } : reply)
      }
      this.#showTranscript(parts, reply, event)
      if (interrupted) return
      show({ type: 'turnComplete', ...(usageMetadata && { usageMetadata }), ...(event && { event }) })
    })
  }

  /** Shows the whole transcript of a spoken reply. */
  #showTranscript(parts: readonly Part[], { transcribed }: LiveReply, event: Event | undefined): void {
    const text = transcribed ? parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('') : ''
    if (text && event) this.#options.show({ type: 'outputTranscript', text, finished: true, event })
  }

  /** Records what was said before the connection was lost or the session ended. */
  takeUnfinished(heard: string): () => Promise<void> {
    const { parts, reply } = this.#turn.takeReply()
    return async () => {
      await this.recordHeard(heard)
      if (parts.length) await this.#options.run.recordReply(parts, { ...reply, interrupted: true })
    }
  }
}
