import { registerShape } from '../base/object-shapes.ts'
import type { Waiter } from './host.ts'

/** Those inside a run who are told when it is stopped: mostly one, the tool that runs. */
export class Waiters {
  #first: Waiter | undefined
  #others: Set<Waiter> | undefined

  add(waiter: Waiter): void {
    if (this.#first === undefined) {
      this.#first = waiter
      return
    }
    this.#others ??= new Set()
    this.#others.add(waiter)
  }
  forget(waiter: Waiter): void {
    if (this.#first === waiter) this.#first = undefined
    else this.#others?.delete(waiter)
  }
  stop(reason: unknown): void {
    this.#first?.stop(reason)
    for (const waiter of [...(this.#others ?? [])]) waiter.stop(reason)
  }
}

registerShape(() => new Waiters())
