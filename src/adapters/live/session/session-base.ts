import type { Ports } from '../../../core/base/ports.ts'
import type { LiveCalls } from '../../../engine/runner/live/live-calls.ts'
import type { RunNews } from '../../../engine/runner/live/run-news.ts'
import type { LiveOptions } from '../live-options.ts'
import type { LiveEventQueue } from './event-queue.ts'
import type { LiveInputHub } from './input-hub.ts'

/** Why a session ends before its app closes it. */
export interface Ending {
  /** The code of the error event. Undefined: the run was cancelled, which is no error. */
  readonly errorCode?: string
  /** The reason. */
  readonly error: unknown
}

/** What a session is made from. */
export interface SessionBase<S> {
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
