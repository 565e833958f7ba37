import type { WorkItem } from './work-item.ts'

/** Work that waits. Users take turns, so that one with much work does not make the others wait for all of it. */
export class FairQueue {
  /** By user. The user who was served last comes last. */
  #waiting: Map<string, WorkItem[]> = new Map()

  /** The number of items. */
  get size(): number {
    let size = 0
    for (const own of this.#waiting.values()) size += own.length
    return size
  }

  /** Replaces all items. Users keep their places. */
  replace(items: readonly WorkItem[]): void {
    const found = Map.groupBy(items, ({ userId }) => userId)
    const kept = new Map<string, WorkItem[]>()
    for (const userId of this.#waiting.keys()) {
      const own = found.get(userId)
      if (own) kept.set(userId, own)
    }
    for (const [userId, own] of found) if (!kept.has(userId)) kept.set(userId, own)
    this.#waiting = kept
  }

  /** Removes and returns the next item of the user with the fewest runs. Undefined if there is none. */
  take(runsOf: (userId: string) => number): WorkItem | undefined {
    let next: string | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const userId of this.#waiting.keys()) {
      const runs = runsOf(userId)
      if (runs < fewest) [next, fewest] = [userId, runs]
      if (fewest === 0) break
    }
    if (next === undefined) return undefined
    const own = this.#waiting.get(next) ?? []
    this.#waiting.delete(next)
    const [item, ...others] = own
    if (others.length > 0) this.#waiting.set(next, others) // behind the other users
    return item
  }
}
