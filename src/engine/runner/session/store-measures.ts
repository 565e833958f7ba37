import type { Ports } from '../../../core/base/ports.ts'
import type { PostedItem } from '../../../services/session/service.ts'
import type { Observation } from '../../observe/observation.ts'

/** Measures the store of a held session: how long appends take, and how long posted items have waited when they are taken. */
export class StoreMeasures {
  readonly #observation: Observation
  readonly #ports: Pick<Ports, 'now' | 'monotonicNow'>
  /** When the items that were read have been posted, by id. Made for the first of them. */
  #postedAt: Map<string, number> | undefined
  /** The append under way: when it began, and the inbox items that it takes. There is one at a time. */
  #append: { readonly startedAt: number; readonly drained: readonly string[] | undefined } | undefined

  constructor(observation: Observation, ports: Pick<Ports, 'now' | 'monotonicNow'>) {
    this.#observation = observation
    this.#ports = ports
  }

  /** Begins to measure an append. `drained`: the inbox items that it takes. */
  startAppend(drained: readonly string[] | undefined): void {
    this.#append = { startedAt: this.#ports.monotonicNow(), drained }
  }

  /** Measures the append that was begun and has not failed. */
  endAppend(): void {
    if (!this.#append) return
    const { startedAt, drained } = this.#append
    this.#append = undefined
    this.#observation.measure({ type: 'append', seconds: (this.#ports.monotonicNow() - startedAt) / 1000 })
    if (drained && this.#postedAt) this.#measureOldest(drained, this.#postedAt)
  }

  /** Notes items that were read. */
  note(items: PostedItem[]): PostedItem[] {
    for (const { id, postedAt } of items) {
      if (typeof postedAt !== 'number') continue
      this.#postedAt ??= new Map()
      this.#postedAt.set(id, postedAt)
    }
    return items
  }

  /** Measures the oldest of the items that an append has taken. Those that do not say when they were posted are not measured. */
  #measureOldest(taken: readonly string[], postedAt: Map<string, number>): void {
    let oldest = Number.POSITIVE_INFINITY
    for (const id of taken) {
      oldest = Math.min(oldest, postedAt.get(id) ?? Number.POSITIVE_INFINITY)
      postedAt.delete(id)
    }
    // the clock of the process that posted may be ahead
    const seconds = Math.max(0, this.#ports.now() - oldest) / 1000
    if (oldest < Number.POSITIVE_INFINITY) this.#observation.measure({ type: 'inbox', seconds })
  }
}
