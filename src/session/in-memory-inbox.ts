import { copyJson } from '../base/json.ts'
import type { InboxItem } from './service.ts'

/** What others left for a session's holder, in the order it came. */
export class Inbox {
  readonly #waiting: Map<string, InboxItem> = new Map()
  // Kept after an item is gone: a poster that retries because it heard no answer must not be heard twice.
  readonly #seen: Set<string> = new Set()

  post(item: InboxItem): void {
    if (this.#seen.has(item.id)) return
    this.#waiting.set(item.id, copyJson(item))
    this.#seen.add(item.id)
  }

  items(): InboxItem[] {
    return Array.from(this.#waiting.values(), (item) => copyJson(item))
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.#waiting.delete(id)
  }
}
