// The limits of an inbox, the same in every store.
import { jsonSize } from '../../core/base/json.ts'
import { MAX_CONTENT_BYTES, MAX_INBOX_ITEMS } from '../../core/base/limits.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkId, checkTogether } from './check-key.ts'
import type { InboxItem } from './service.ts'

/** How many ids of drained items a store remembers for each session. It ignores an item that is posted again. */
export const MAX_REMEMBERED_IDS = 1_000

/**
 * Checks a new item before a store puts it into an inbox in which `waiting` items are: throws INVALID_REQUEST for an id that is not
 * valid, and TOO_LARGE for an item that is too large or an inbox that is full.
 */
export function checkInboxItem(item: InboxItem, waiting: number): void {
  checkItemId(item.id)
  checkItemSize(jsonSize(item, MAX_CONTENT_BYTES))
  if (waiting >= MAX_INBOX_ITEMS) throw inboxFullError()
}

/** Throws INVALID_REQUEST for the id of an inbox item that is not valid. */
export function checkItemId(id: unknown): void {
  checkId('The id of an inbox item', id)
  checkTogether({ 'The id of an inbox item': id as string }) // checked above
}

/** The error for a post to a full inbox. */
export function inboxFullError(): ToolwrightError {
  return new ToolwrightError(
    'TOO_LARGE',
    `The inbox of the session is full: it has ${MAX_INBOX_ITEMS} items that no run has drained. Resume or cancel the run first.`,
  )
}

/** Throws TOO_LARGE for an inbox item that is too large. */
export function checkItemSize(bytes: number): void {
  if (bytes <= MAX_CONTENT_BYTES) return
  throw new ToolwrightError(
    'TOO_LARGE',
    `The inbox item is too large: it may have at most ${MAX_CONTENT_BYTES} bytes. Save large data as an artifact.`,
  )
}
