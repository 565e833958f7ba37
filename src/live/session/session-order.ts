import type { LiveEvent } from '../../tool/live-event.ts'

/** Does one step after another, such as recording. Events for the consumer keep their place among the steps. */
export class SessionOrder {
  readonly #show: (event: LiveEvent) => void
  readonly #onFailed: (error: unknown) => void
  #latest: Promise<void> = Promise.resolve()
  #waiting = 0

  /** `onFailed`: a step has failed. The log must have no gap, so that the session ends. */
  constructor(show: (event: LiveEvent) => void, onFailed: (error: unknown) => void) {
    this.#show = show
    this.#onFailed = onFailed
  }

  /** Does a step after everything before it. Rejects if the step fails. */
  run(step: () => Promise<void>): Promise<void> {
    this.#waiting++
    const done = this.#latest.then(step).finally(() => this.#waiting--)
    this.#latest = done.catch(this.#onFailed)
    return done
  }

  /** The same for a caller that does not wait. */
  enqueue(step: () => Promise<void>): void {
    this.run(step).catch(() => {}) // `onFailed` was called
  }

  /** Shows an event to the consumer, after the steps and the events that wait. */
  emit(event: LiveEvent): void {
    if (this.#waiting === 0) {
      this.#show(event)
      return
    }
    this.#waiting++ // no later event may pass this one
    this.#latest = this.#latest.then(() => {
      this.#waiting--
      this.#show(event)
    })
  }

  /** Does a last step, after everything before it. */
  finish(step: () => Promise<void>): Promise<void> {
    return this.#latest.then(step)
  }
}
