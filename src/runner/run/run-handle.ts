import type { Next } from '../../agent/loop/next.ts'
import type { Event } from '../../event/event.ts'
import { Cancelled } from './cancelled.ts'
import type { EventQueue } from './event-queue.ts'

/** The events of one run, as they happen. It starts when it is first iterated; leaving the loop cancels it. */
export interface Run extends AsyncIterable<Event> {
  readonly sessionId: string
  /** Known at once for new text; for `resume` and answers from the first event on. */
  readonly invocationId: string
  /** Ends the run; resolves when that is recorded. */
  cancel(reason?: string): Promise<void>
}

/** A run that is under way, as whoever began it sees it. */
export interface StartedRun {
  readonly userId: string
  readonly sessionId: string
  readonly invocationId: string
  readonly events: EventQueue
  /** Nothing more will come. */
  readonly isFinished: boolean
  /** Settles when it has come to rest. */
  readonly finished: Promise<void>
  /** Why it could not go on, when it could not. */
  readonly failure: { readonly reason: unknown } | undefined
  /** What the invocation would do next; `wait` when it is paused. */
  next(): Next
  /** Why the whole of it ended early, when it did. */
  error(): { readonly code: string; readonly message: string } | undefined
  /** The answer of the whole invocation, when branches gave it. */
  branchedText(): string
  /** Ends it before its end. */
  stop(reason: unknown): void
  /** Its reader goes: that ends what is his. */
  removeConsumer(reason: Cancelled): void
}

/** Why a run ends whose caller's signal says so. */
export const CANCELLED_BY_CALLER = 'The run was cancelled by its caller.'

/** How a run is begun, once; undefined when it was cancelled before it came to that. `isRead`: is there a consumer? */
export type OpenRun = (isCancelled: () => boolean, isRead: () => boolean) => Promise<StartedRun | undefined>

export class RunHandle implements Run {
  readonly sessionId: string
  readonly #open: OpenRun
  readonly #cancel: (invocationId: string) => Promise<void>
  readonly #detach: boolean
  readonly #signal: AbortSignal | undefined
  #invocationId: string
  #active: Promise<StartedRun | undefined> | undefined
  #cancelled: Cancelled | undefined
  #taken = false

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
    if (this.#detach) this.#start().catch(() => {}) // whoever iterates hears of it
  }

  get invocationId(): string {
    return this.#invocationId
  }
  async cancel(reason = 'The run was cancelled.'): Promise<void> {
    this.#cancelled ??= new Cancelled(reason)
    if (!this.#active) return
    const active = await this.#active
    if (!active) return
    active.stop(this.#cancelled)
    await active.finished
    // it had come to a pause before it could hear: what waits is cancelled like anything that waits
    if (!active.failure && active.next().type === 'wait') await this.#cancel(active.invocationId)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const active = await this.#begin()
    if (!active) return
    active.events.open()
    const forgetSignal = this.#detach ? undefined : followSignal(this.#signal, active)
    try {
      for (;;) {
        const event = active.events.takeNext()
        if (event) yield event
        else if (active.isFinished) break
        else await active.events.waitForMore()
      }
    } finally {
      forgetSignal?.()
      if (this.#detach)
        active.events.close() // events can be read once
      else if (!active.isFinished) {
        active.removeConsumer(new Cancelled('The run was left before its end.'))
        await active.finished
      }
    }
    if (active.failure) throw active.failure.reason
  }

  /** Starts it for its only reader; undefined when it was cancelled before. */
  #begin(): Promise<StartedRun | undefined> {
    if (this.#taken) return Promise.reject(new Error('The events of a run can be read once.'))
    this.#taken = true
    return this.#cancelled && !this.#active ? Promise.resolve(undefined) : this.#start()
  }

  #start(): Promise<StartedRun | undefined> {
    const isCancelled = (): boolean => this.#cancelled !== undefined
    this.#active ??= this.#open(isCancelled, () => this.#taken).then((active) => {
      if (!active) return undefined
      this.#invocationId = active.invocationId
      if (this.#cancelled) active.stop(this.#cancelled)
      // whether anybody reads or not
      const forgetSignal = this.#detach ? followSignal(this.#signal, active) : undefined
      if (forgetSignal) void active.finished.then(forgetSignal)
      return active
    })
    return this.#active
  }
}

/** Stops the run when the caller's signal says so; the returned function ends that. */
export function followSignal(signal: AbortSignal | undefined, active: StartedRun): (() => void) | undefined {
  if (!signal) return undefined
  const abort = (): void => active.removeConsumer(new Cancelled(CANCELLED_BY_CALLER))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}
