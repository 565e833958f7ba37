import { copyJson, jsonSize } from '../base/json.ts'
import { MAX_CONTENT_BYTES, MAX_INBOX_ITEMS } from '../base/limits.ts'
import { ToolwrightError } from '../error/error.ts'
import type { InboxItem, PostedItem } from './service.ts'

/** Items of a session that are told apart from new ones although they are gone. */
export const MAX_REMEMBERED_IDS = 1_000

/** The error for an inbox that is posted to faster than a run drains it. */
export function inboxFullError(): ToolwrightError {
  const problem = `The inbox of the session has ${MAX_INBOX_ITEMS} items that no run has taken yet`
  return new ToolwrightError('TOO_LARGE', `${problem}. Resume or cancel its run first.`)
}

export function checkItemSize(bytes: number): void {
  if (bytes <= MAX_CONTENT_BYTES) return
  throw new ToolwrightError('TOO_LARGE', `An inbox item has at most ${MAX_CONTENT_BYTES} bytes.`)
}

/** What others left for a session's holder, in the order it came. */
export class Inbox {
  readonly #waiting: Map<string, PostedItem> = new Map()
  // Kept after an item is gone, the latest of them: a poster that retries because it heard no answer must not be heard
  // twice.
  readonly #seen: Set<string> = new Set()

  /** `seq`: the last sequence number of the log now. */
  post(item: InboxItem, seq: number): void {
    checkItemSize(jsonSize(item, MAX_CONTENT_BYTES))
    if (this.#seen.has(item.id)) return
    if (this.#waiting.size >= MAX_INBOX_ITEMS) throw inboxFullError()
    this.#waiting.set(item.id, { ...copyJson(item), seq })
    this.#seen.add(item.id)
  }

  items(): PostedItem[] {
    return Array.from(this.#waiting.values(), (item) => copyJson(item))
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.#waiting.delete(id)
    for (const id of this.#seen) {
      if (this.#seen.size <= MAX_REMEMBERED_IDS) return
      if (!this.#waiting.has(id)) this.#seen.delete(id)
    }
  }
}
