// Records what the user and the model said, and shows events to the consumer, one step after another.
import type { Part } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import type { LiveEvent } from '../../../engine/model/live-event.ts'
import { type LiveReply, textIn } from '../../../engine/runner/live/live-log.ts'
import type { Spoken } from '../conversation/conversation.ts'
import type { SessionBase } from './session-base.ts'

/** The session whose words are recorded. */
export interface RecordedSession extends Pick<SessionBase<never>, 'live' | 'queue' | 'onEnd'> {
  /** Called with every event that is shown. */
  onShown(type: LiveEvent['type']): void
}

/** Does one step after another, such as recording. Events for the consumer keep their place among the steps. */
export class SessionRecorder {
  readonly #session: RecordedSession
  #latest: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(session: RecordedSession) {
    this.#session = session
  }

  /** Does a step after everything before it. Rejects if the step fails. */
  run(step: () => Promise<void>): Promise<void> {
    this.#waiting++
    const done = this.#latest.then(step)
    this.#latest = done.then(this.#onDone, this.#onFailed) // before the caller goes on
    return done
  }

  readonly #onDone = (): void => {
    this.#waiting--
  }

  /** The log must have no gap, so that the session ends. */
  readonly #onFailed = (error: unknown): void => {
    this.#waiting--
    this.#session.onEnd({ errorCode: error instanceof ToolwrightError ? error.code : 'INTERNAL', error })
  }

  /** The same for a caller that does not wait. */
  enqueue(step: () => Promise<void>): void {
    this.run(step).catch(() => {}) // the session ends
  }

  /** Does a step that leaves no gap in the log if it fails: the session goes on. Rejects if the step fails. */
  async attempt(step: () => Promise<void>): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    await this.run(() =>
      step().catch((error) => {
        failure = { error }
      }),
    )
    if (failure) throw failure.error
  }

  /** Does a last step, after everything before it. */
  finish(step: () => Promise<void>): Promise<void> {
    return this.#latest.then(step)
  }

  /** Shows an event to the consumer, after the steps and the events that wait. */
  emit(event: LiveEvent): void {
    if (this.#waiting === 0) {
      this.show(event)
      return
    }
    this.#waiting++ // no later event may pass this one
    this.#latest = this.#latest.then(() => {
      this.#waiting--
      this.show(event)
    })
  }

  /** Shows an event now: in a step, or before everything that waits. */
  show(event: LiveEvent): void {
    const { queue } = this.#session
    this.#session.onShown(event.type)
    if (event.type === 'interrupted') queue.dropAudio() // also what waited for its turn
    queue.push(event)
  }

  /** Reports a mistake in a hook. */
  readonly report = (problem: string, error: unknown): void => {
    const message = error === undefined ? problem : `${problem}: ${messageOf(error)}`
    this.emit({ type: 'error', errorCode: 'HOOK_FAILED', message })
    try {
      this.#session.live.data.services.logger.warn(message, error)
    } catch {} // the session goes on without its log lines
  }

  /** Records what the user said. Part of a step, as the others below. */
  async recordHeard(heard: string): Promise<void> {
    if (heard === '') return
    const event = await this.#session.live.log.recordUser({ role: 'user', parts: [{ text: heard }] }, 'spoken')
    this.show({ type: 'inputTranscript', text: heard, finished: true, event })
  }

  /** Records what was said until the turn of the model ended, or the user interrupted it. */
  async recordSpoken({ heard, parts, reply }: Spoken, until: 'turn' | 'interruption'): Promise<void> {
    const { log } = this.#session.live
    await this.recordHeard(heard)
    const mustRecord = parts.length > 0 || (until === 'turn' && log.isTurnOpen)
    const said: LiveReply = until === 'turn' ? reply : { ...reply, interrupted: true }
    const event = mustRecord ? (await log.recordReply({ parts, reply: said })).event : undefined
    if (event) this.showTranscript(parts, reply, event)
    if (until === 'interruption') return
    const { usageMetadata } = reply
    this.show({ type: 'turnComplete', ...(usageMetadata && { usageMetadata }), ...(event && { event }) })
  }

  /** Records what was said before the connection was lost or the session ended. No one hears the rest. */
  async recordUnfinished({ heard, parts, reply }: Spoken): Promise<void> {
    await this.recordHeard(heard)
    if (parts.length > 0) await this.#session.live.log.recordReply({ parts, reply: { ...reply, interrupted: true } })
  }

  /** Shows the whole transcript of a spoken reply. */
  showTranscript(parts: readonly Part[], { transcribed }: LiveReply, event: Event): void {
    const text = transcribed ? textIn(parts) : ''
    if (text) this.show({ type: 'outputTranscript', text, finished: true, event })
  }
}
