import type { Next } from '../../agent/loop/next.ts'
import type { Event } from '../../event/event.ts'
import { Cancelled } from './cancelled.ts'
import type { EventQueue } from './event-queue.ts'

/**
 * One run, as an async iterable of its events. It starts when it is iterated, and can be iterated once. Leaving the loop
 * cancels the run, unless `runConfig.detach` is set.
 */
export interface Run extends AsyncIterable<Event> {
  /** The session of the run; a new id if the caller passed none. */
  readonly sessionId: string
  /** The invocation. For answers and `resume()` it is empty until the first event. */
  readonly invocationId: string
  /** Cancels the run. Resolves when the cancellation is recorded. */
  cancel(reason?: string): Promise<void>
}

/** A run that has started, as its handle sees it: a run of this process, or one that the caller follows. */
export interface StartedRun {
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The invocation that the run executes. */
  readonly invocationId: string
  /** The queue of events for the consumer. */
  readonly events: EventQueue
  /** Whether no more events follow. */
  readonly isFinished: boolean
  /** Settles when the run has finished. Never rejects: an error is in `failure`. */
  readonly finished: Promise<void>
  /** The error that ended the run; undefined when it completed, paused or was cancelled. */
  readonly failure: { readonly reason: unknown } | undefined
  /** The next step of the invocation; `wait` when it is paused. */
  next(): Next
  /** The error that ended the whole invocation early, if one did. */
  error(): { readonly code: string; readonly message: string } | undefined
  /** The answers of all branches of the invocation, labelled. */
  branchedText(): string
  /** Stops the run for this reason. */
  stop(reason: unknown): void
  /** Removes the consumer. Cancels the consumer's own run; a followed run continues. */
  removeConsumer(reason: Cancelled): void
}

/** The reason when the caller's signal cancels the run. */
export const CANCELLED_BY_CALLER = 'The run was cancelled by its caller.'

/** Starts the run. Resolves to undefined when it was cancelled before it started. */
export type OpenRun = (isCancelled: () => boolean, hasConsumer: () => boolean) => Promise<StartedRun | undefined>

/** The `Run` that callers get: starts the run, passes its events to one consumer and cancels it. */
export class RunHandle implements Run {
  /** The session of the run. */
  readonly sessionId: string
  readonly #open: OpenRun
  readonly #cancel: (invocationId: string) => Promise<void>
  readonly #detach: boolean
  readonly #signal: AbortSignal | undefined
  #invocationId: string
  #active: Promise<StartedRun | undefined> | undefined
  #cancelled: Cancelled | undefined
  #isConsumed = false

  constructor(options: {
    sessionId: string
    invocationId: string
    open: OpenRun
    cancel: (invocationId: string) => Promise<void>
    detach: boolean
    signal: AbortSignal | undefined
  }) {
    this.sessionId = options.sessionId
    this.#invocationId = options.invocationId
    this.#open = options.open
    this.#cancel = options.cancel
    this.#detach = options.detach
    this.#signal = options.signal
    if (this.#detach) this.#start().catch(() => {}) // iterating the run throws the error
  }

  /** The invocation. For answers and `resume()` it is empty until the first event. */
  get invocationId(): string {
    return this.#invocationId
  }
  /** Cancels the run. Resolves when the cancellation is recorded. */
  async cancel(reason = 'The run was cancelled.'): Promise<void> {
    this.#cancelled ??= new Cancelled(reason)
    if (!this.#active) return
    const active = await this.#active
    if (!active) return
    active.stop(this.#cancelled)
    await active.finished
    // the run paused before the stop reached it: its invocation is still open
    if (!active.failure && active.next().type === 'wait') await this.#cancel(active.invocationId)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const active = await this.#startForConsumer()
    if (!active) return
    active.events.open()
    const unfollowSignal = this.#detach ? undefined : followSignal(this.#signal, active)
    try {
      for (;;) {
        const event = active.events.takeNext()
        if (event) yield event
        else if (active.isFinished) break
        else await active.events.waitForMore()
      }
    } finally {
      unfollowSignal?.()
      if (this.#detach)
        active.events.close() // there is only one consumer
      else if (!active.isFinished) {
        active.removeConsumer(new Cancelled('The consumer stopped reading the run before it ended.'))
        await active.finished
      }
    }
    if (active.failure) throw active.failure.reason
  }

  /** Starts the run for its only consumer; undefined when it was cancelled before. */
  #startForConsumer(): Promise<StartedRun | undefined> {
    if (this.#isConsumed) {
      return Promise.reject(
        new Error('This run was already iterated. A run can be iterated once: start another with runner.run().'),
      )
    }
    this.#isConsumed = true
    return this.#cancelled && !this.#active ? Promise.resolve(undefined) : this.#start()
  }

  #start(): Promise<StartedRun | undefined> {
    const isCancelled = (): boolean => this.#cancelled !== undefined
    this.#active ??= this.#open(isCancelled, () => this.#isConsumed).then((active) => {
      if (!active) return undefined
      this.#invocationId = active.invocationId
      if (this.#cancelled) active.stop(this.#cancelled)
      // the abort signal cancels a detached run even if no consumer iterates it
      const unfollowSignal = this.#detach ? followSignal(this.#signal, active) : undefined
      if (unfollowSignal) void active.finished.then(unfollowSignal)
      return active
    })
    return this.#active
  }
}

/** Cancels the run when the caller's signal aborts. The returned function removes the listener. */
export function followSignal(signal: AbortSignal | undefined, active: StartedRun): (() => void) | undefined {
  if (!signal) return undefined
  const abort = (): void => active.removeConsumer(new Cancelled(CANCELLED_BY_CALLER))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}

/** A run that could not start: iterating it throws the error. */
export function rejectedRun(sessionId = '', error: unknown): Run {
  const open = (): Promise<never> => Promise.reject(error)
  return new RunHandle({ sessionId, invocationId: '', open, cancel: async () => {}, detach: false, signal: undefined })
}
