// Makes the JSON of a list piece by piece: other requests go on meanwhile, and what exceeds the limit is never read.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Page, PageOptions } from '../../../services/session/service.ts'
import { restAfter } from '../guard/pace.ts'

/** How many items, and about how many bytes of them, are read at a time. */
const PIECE_ITEMS = 100
const PIECE_BYTES = 1_000_000

/** A list of a store. */
export interface ListSource<T> {
  /** Reads a part of the list. */
  read(options: PageOptions): Promise<Page<T>>
  /** What the client gets for an item, by key. A value replaces an earlier one with the same key. */
  write(item: T): Iterable<readonly [key: string, value: object | string]>
}

/** Which part of a list a client wants. */
export interface ListRange {
  /** The most items; undefined for all. */
  readonly limit: number | undefined
  /** Where to start. */
  readonly after: string | undefined
  /** The most characters of the text. */
  readonly maxBytes: number
  /** A list without a `limit` ends early, too. */
  readonly endsEarly?: boolean
}

/** A part of a list as JSON. */
interface ListText {
  /** An array. */
  readonly text: string
  /** Where the next part starts; undefined if there is none. */
  readonly next: string | undefined
}

/**
 * Writes a part of a list as JSON. A part with a `limit` ends early if it would have more than `maxBytes`. Throws `TOO_LARGE` for a
 * whole list, or one item, that has more.
 */
export async function writeList<T>(source: ListSource<T>, range: ListRange): Promise<ListText> {
  const { limit, after, maxBytes, endsEarly = limit !== undefined } = range
  const texts = new Map<string, string>()
  let bytes = 2
  let left = limit ?? Number.POSITIVE_INFINITY
  let next = after
  let pieceItems = PIECE_ITEMS
  for (;;) {
    const start = performance.now()
    const page = await source.read({ limit: Math.min(left, pieceItems), after: next, maxBytes: PIECE_BYTES })
    const added = writePiece(source, page.items)
    const size = sizeOf(added, texts)
    if (bytes + size > maxBytes) {
      if (!endsEarly && limit === undefined) throw tooLarge('The response', maxBytes)
      if (texts.size > 0) break // the next page starts with this piece
      if (page.items.length <= 1) throw tooLarge('One item', maxBytes)
      pieceItems = 1
      continue
    }
    for (const [key, text] of added) texts.set(key, text)
    bytes += size
    left -= page.items.length
    next = page.next
    if (next === undefined || left <= 0) break
    await restAfter(start)
  }
  return { text: `[${[...texts.values()].join(',')}]`, next }
}

function writePiece<T>(source: ListSource<T>, items: readonly T[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const item of items) for (const [key, value] of source.write(item)) texts.set(key, JSON.stringify(value))
  return texts
}

/** By how much the text grows. */
function sizeOf(added: ReadonlyMap<string, string>, known: ReadonlyMap<string, string>): number {
  let size = 0
  for (const [key, text] of added) size += text.length - (known.get(key)?.length ?? -1) // one more: the comma
  return size
}

/** The error for a response that would be too large. */
export function tooLarge(what: string, maxBytes: number): ToolwrightError {
  return new ToolwrightError(
    'TOO_LARGE',
    `${what} would have more than ${maxBytes} bytes. Read the list in pages: add ?limit=50 to the address, and pass the header X-Next-Cursor of each page as \`cursor\` of the next one.`,
  )
}
