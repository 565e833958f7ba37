// Follows a run of another caller: the run that holds the session has recorded the answers of this caller.

import type { Event } from '../../../core/event/event.ts'
import type { Next } from '../../agent/loop/next.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { EventQueue } from '../run/event-queue.ts'
import type { StartedRun } from '../run/run-handle.ts'

/** A run of another caller, with an event queue for this caller. */
export class RunFollower implements StartedRun {
  readonly #active: ActiveRun
  readonly #stopListening: () => void
  #settle: (() => void) | undefined
  /** The queue of events for this caller. */
  readonly events: EventQueue = new EventQueue()
  /** The invocation of the followed run. */
  readonly invocationId: string
  /** The session. */
  readonly sessionId: string
  /** The user of the session. */
  readonly userId: string
  /** Settles when the followed run has finished, or when this caller has stopped reading. */
  readonly finished: Promise<void>
  isFinished = false

  /** `before`: the recorded events that followed the answers. */
  constructor(active: ActiveRun, before: readonly Event[]) {
    this.#active = active
    this.invocationId = active.invocationId
    this.sessionId = active.sessionId
    this.userId = active.userId
    for (const event of before) this.events.push(event)
    this.#stopListening = active.events.listen((event) => this.events.push(event))
    this.finished = new Promise((resolve) => {
      this.#settle = resolve
    })
    void active.finished.then(() => this.removeConsumer())
  }

  get failure(): { readonly reason: unknown } | undefined {
    return this.#active.failure
  }

  next(): Next {
    return this.#active.next()
  }

  error(): { readonly code: string; readonly message: string } | undefined {
    return this.#active.error()
  }

  branchedText(): string {
    return this.#active.branchedText()
  }

  stop(reason: unknown): void {
    if (!this.isFinished) this.#active.stop(reason)
  }

  /** Stops following. The run continues for the caller that started it. */
  removeConsumer(): void {
    this.#stopListening()
    this.isFinished = true
    this.#settle?.()
    this.events.notifyConsumer()
  }
}
