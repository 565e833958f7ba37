// A run that another one carries out: its answers were taken in by the run that holds the session.
import type { Next } from '../../agent/loop/next.ts'
import type { Event } from '../../event/event.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { EventQueue } from '../run/event-queue.ts'
import type { StartedRun } from '../run/run-handle.ts'

export class RunFollower implements StartedRun {
  readonly #active: ActiveRun
  readonly #forget: () => void
  #settle: (() => void) | undefined
  readonly events: EventQueue = new EventQueue()
  readonly invocationId: string
  readonly sessionId: string
  readonly userId: string
  /** Settles when the run has come to rest, or its reader has gone. */
  readonly finished: Promise<void>
  isFinished = false

  /** `before`: what has followed the answers already. */
  constructor(active: ActiveRun, before: readonly Event[]) {
    this.#active = active
    this.invocationId = active.invocationId
    this.sessionId = active.sessionId
    this.userId = active.userId
    for (const event of before) this.events.push(event)
    this.#forget = active.events.listen((event) => this.events.push(event))
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

  /** The run goes on for whoever began it. */
  removeConsumer(): void {
    this.#forget()
    this.isFinished = true
    this.#settle?.()
    this.events.notifyConsumer()
  }
}
