import { removeFrom } from './remove-from.ts'

/** Called once when a run, or one scope of it, is stopped early. */
export interface StopListener {
  /** Called with the reason of the stop. */
  stop(reason: unknown): void
}

/** Stops a run, or one scope of it, early: on cancel, timeout or a failed append. Dispatch records nothing afterwards. */
export class StopSignal {
  #listeners: StopListener[] | undefined
  #controller: AbortController | undefined
  /** The reason, once stopped. */
  stopped: { readonly reason: unknown } | undefined

  /** The same as an `AbortSignal`, created when first read. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.stopped && !this.#controller.signal.aborted) this.#controller.abort(this.stopped.reason)
    return this.#controller.signal
  }

  /** Adds a listener. Calls it at once when already stopped. */
  add(listener: StopListener): void {
    if (this.stopped) {
      listener.stop(this.stopped.reason)
      return
    }
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  /** Removes a listener. */
  delete(listener: StopListener): void {
    if (this.#listeners) removeFrom(this.#listeners, listener)
  }

  /** Stops once; later reasons are ignored. */
  stop(reason: unknown): void {
    if (this.stopped) return
    this.stopped = { reason }
    this.#controller?.abort(reason)
    for (const listener of [...(this.#listeners ?? [])]) listener.stop(reason)
  }
}
