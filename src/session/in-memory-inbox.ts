import { copyJson } from '../base/json.ts'
import type { InboxItem, PostedItem } from './service.ts'

/** Items of a session that are told apart from new ones although they are gone. */
export const MAX_REMEMBERED = 1_000

/** What others left for a session's holder, in the order it came. */
export class Inbox {
  readonly #waiting: Map<string, PostedItem> = new Map()
  // Kept after an item is gone, the latest of them: a poster that retries because it heard no answer must not be heard
  // twice.
  readonly #seen: Set<string> = new Set()

  /** `seq`: the last sequence number of the log now. */
  post(item: InboxItem, seq: number): void {
    if (this.#seen.has(item.id)) return
    this.#waiting.set(item.id, { ...copyJson(item), seq })
    this.#seen.add(item.id)
  }

  items(): PostedItem[] {
    return Array.from(this.#waiting.values(), (item) => copyJson(item))
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.#waiting.delete(id)
    for (const id of this.#seen) {
      if (this.#seen.size <= MAX_REMEMBERED) return
      if (!this.#waiting.has(id)) this.#seen.delete(id)
    }
  }
}
