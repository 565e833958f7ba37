import { copyJson } from '../../core/base/json.ts'
import { checkInboxItem, MAX_REMEMBERED_IDS } from './inbox-limits.ts'
import type { InboxItem, PostedItem } from './service.ts'

/** The inbox of one session. */
export class Inbox {
  readonly #waiting: Map<string, PostedItem> = new Map()
  // Includes drained items: a client that posts again after a lost reply must not be processed twice.
  readonly #knownIds: Set<string> = new Set()

  /** Adds an item, unless its id is known. `seq` is the last sequence number of the log. */
  post(item: InboxItem, seq: number): void {
    if (this.#knownIds.has(item.id)) return
    checkInboxItem(item, this.#waiting.size)
    this.#waiting.set(item.id, { ...copyJson(item), seq })
    this.#knownIds.add(item.id)
  }

  /** Was an item with this id posted before? */
  hasSeen(id: string): boolean {
    return this.#knownIds.has(id)
  }

  /** The number of messages that wait. */
  get messages(): number {
    let messages = 0
    for (const { type } of this.#waiting.values()) if (type === 'message') messages++
    return messages
  }

  /** Whether no item waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Copies of the items, in order of arrival. */
  items(): PostedItem[] {
    return Array.from(this.#waiting.values(), (item) => copyJson(item))
  }

  /** Removes drained items. Their ids stay known for a while. */
  remove(ids: readonly string[]): void {
    for (const id of ids) this.#waiting.delete(id)
    for (const id of this.#knownIds) {
      if (this.#knownIds.size <= MAX_REMEMBERED_IDS) return
      if (!this.#waiting.has(id)) this.#knownIds.delete(id)
    }
  }
}
