import { keepShape } from '../base/keep-shape.ts'
import type { StopListener } from './host.ts'

/** Those inside a run who are told when it is stopped: mostly one, the tool that runs. */
export class StopListeners {
  #first: StopListener | undefined
  #others: Set<StopListener> | undefined

  add(waiter: StopListener): void {
    if (this.#first === undefined) {
      this.#first = waiter
      return
    }
    this.#others ??= new Set()
    this.#others.add(waiter)
  }
  forget(waiter: StopListener): void {
    if (this.#first === waiter) this.#first = undefined
    else this.#others?.delete(waiter)
  }
  stop(reason: unknown): void {
    this.#first?.stop(reason)
    for (const waiter of [...(this.#others ?? [])]) waiter.stop(reason)
  }
}

keepShape(() => new StopListeners())
