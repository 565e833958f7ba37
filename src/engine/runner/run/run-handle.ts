import type { Event } from '../../../core/event/event.ts'
import type { Next } from '../../agent/loop/next.ts'
import type { CancelOptions, FailedRecovery } from '../runner-options.ts'
import { Cancelled } from './cancelled.ts'
import type { EventQueue } from './event-queue.ts'
import type { RunCaller, RunRequest } from './run-request.ts'

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

/** The runs that `runner.recover()` has started, and what it could not do. */
export type RecoveredRuns = Run[] & {
  /** The sessions that were not continued, and lists that could not be read. */
  readonly failed: readonly FailedRecovery[]
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

/** Starts runs. Throws `Cancelled` if the caller cancels before the run has started. */
export interface Starter {
  /** Starts a run. */
  start(request: RunRequest): Promise<StartedRun>
}

/** Cancels what a run leaves unfinished. */
export interface Canceller {
  /** Cancels invocations of a session. */
  cancel(options: CancelOptions): Promise<void>
}

/** The `Run` that callers get: starts the run, passes its events to one consumer and cancels it. */
export class RunHandle implements Run, RunCaller {
  /** The session of the run. */
  readonly sessionId: string
  readonly #request: RunRequest
  readonly #starter: Starter
  readonly #canceller: Canceller
  #invocationId: string
  #active: Promise<StartedRun | undefined> | undefined
  #cancelled: Cancelled | undefined
  #isConsumed = false

  constructor(request: RunRequest, starter: Starter, canceller: Canceller) {
    this.sessionId = request.sessionId
    this.#invocationId = request.invocationId
    this.#request = request
    this.#starter = starter
    this.#canceller = canceller
    if (request.runConfig.detach) this.#start().catch(() => {}) // iterating the run throws the error
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
    if (!active.failure && active.next().type === 'wait') {
      const { userId, sessionId, runContext } = this.#request
      await this.#canceller.cancel({ userId, sessionId, invocationId: active.invocationId, runContext })
    }
  }

  isCancelled(): boolean {
    return this.#cancelled !== undefined
  }

  hasConsumer(): boolean {
    return this.#isConsumed
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const active = await this.#startForConsumer()
    if (!active) return
    const { events } = active
    const { signal, runConfig } = this.#request
    events.open()
    const unfollowSignal = runConfig.detach ? undefined : followSignal(signal, active)
    try {
      for (;;) {
        const event = events.takeNext()
        if (event) yield event
        else if (active.isFinished) break
        else await events.waitForMore()
      }
    } finally {
      unfollowSignal?.()
      if (runConfig.detach)
        events.close() // there is only one consumer
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
    this.#active ??= this.#startNow()
    return this.#active
  }

  async #startNow(): Promise<StartedRun | undefined> {
    try {
      const active = await this.#starter.start({ ...this.#request, caller: this })
      const { signal, runConfig } = this.#request
      this.#invocationId = active.invocationId
      if (this.#cancelled) active.stop(this.#cancelled)
      // the abort signal cancels a detached run even if no consumer iterates it
      const unfollowSignal = runConfig.detach ? followSignal(signal, active) : undefined
      if (unfollowSignal) void active.finished.then(unfollowSignal)
      return active
    } catch (error) {
      if (error instanceof Cancelled) return undefined
      throw error
    }
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
  const request = { userId: '', sessionId, invocationId: '', runConfig: {}, isNew: false }
  const starter: Starter = { start: () => Promise.reject(error) }
  return new RunHandle({ ...request, runContext: undefined, signal: undefined }, starter, { cancel: async () => {} })
}
