import type { Ports } from '../../../core/base/ports.ts'
import type { PostedItem } from '../../../services/session/service.ts'
import type { Observation } from '../../observe/observation.ts'

/** Measures how long posted items have waited when their holder takes them out of the inbox. */
export class InboxAges {
  readonly #observation: Observation
  readonly #ports: Pick<Ports, 'now'>
  /** When the items that were read have been posted, by id. */
  readonly #postedAt: Map<string, number> = new Map()

  constructor(observation: Observation, ports: Pick<Ports, 'now'>) {
    this.#observation = observation
    this.#ports = ports
  }

  /** Notes items that were read. */
  note(items: PostedItem[]): PostedItem[] {
    for (const { id, postedAt } of items) if (typeof postedAt === 'number') this.#postedAt.set(id, postedAt)
    return items
  }

  /** Measures the oldest of the items that an append has taken. Those that do not say when they were posted are not measured. */
  measure(taken: readonly string[] | undefined): void {
    if (!taken) return
    let oldest = Number.POSITIVE_INFINITY
    for (const id of taken) {
      oldest = Math.min(oldest, this.#postedAt.get(id) ?? Number.POSITIVE_INFINITY)
      this.#postedAt.delete(id)
    }
    // the clock of the process that posted may be ahead
    const seconds = Math.max(0, this.#ports.now() - oldest) / 1000
    if (oldest < Number.POSITIVE_INFINITY) this.#observation.measure({ type: 'inbox', seconds })
  }
}
