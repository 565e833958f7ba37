// Reads lists in parts.
import { ToolwrightError } from '../../core/error/error.ts'
import type { Page, PageOptions, SessionService } from './service.ts'

/** The most items of a page. */
const MAX_LIMIT = 1_000_000

/** The number after which a page starts; 0 for the first page. Throws INVALID_REQUEST for a limit or a position that is not valid. */
export function readPagePosition({ limit, after = '0' }: PageOptions): number {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new ToolwrightError('INVALID_REQUEST', `The limit of a page must be a whole number from 1 to ${MAX_LIMIT}.`)
  if (typeof after === 'string' && /^\d{1,15}$/.test(after)) return Number(after)
  throw new ToolwrightError('INVALID_REQUEST', 'A page starts at the `next` of the page before, or without one.')
}

/** The number of entries before a part of a log. Throws INVALID_REQUEST for a start or a limit that is not valid. */
export function readLogStart({
  fromSeq = 1,
  limit = 0,
}: Parameters<NonNullable<SessionService['readLog']>>[0]): number {
  if (Number.isSafeInteger(fromSeq) && fromSeq >= 1 && Number.isSafeInteger(limit) && limit >= 0) return fromSeq - 1
  throw new ToolwrightError(
    'INVALID_REQUEST',
    'A part of a log starts at a sequence number, from 1, and its limit is a whole number.',
  )
}

/** An item of a list, with what a page needs to know about it. */
interface Placed<T> {
  /** The item. */
  readonly item: T
  /** Its number. Numbers of a list grow, or fall, from item to item. */
  readonly position: number
  /** Its size as JSON, about. */
  readonly bytes: number
}

/** Takes items up to the limits of a page. Items after it are not made: `rows` may be lazy. */
export function takePage<R, T>(
  rows: Iterable<R>,
  options: PageOptions,
  place: (row: R) => Placed<T> | undefined,
): Page<T> {
  const { limit, maxBytes = Number.POSITIVE_INFINITY } = options
  const items: T[] = []
  let bytes = 0
  let last = 0
  for (const row of rows) {
    if (items.length >= limit || bytes >= maxBytes) return { items, next: String(last) }
    const placed = place(row)
    if (!placed) continue
    items.push(placed.item)
    bytes += placed.bytes
    last = placed.position
  }
  return { items }
}

/** A part of a list that was read as a whole. Its positions are those in the list. */
export function pageOf<T>(items: readonly T[], options: PageOptions): Page<T> {
  const from = readPagePosition(options)
  const shown = items.slice(from, from + options.limit)
  return from + shown.length < items.length ? { items: shown, next: String(from + shown.length) } : { items: shown }
}
