// What a memory service keeps of a session: the text of its messages, within limits.
import type { Content, Part } from '../../core/content/content.ts'
import type { Event } from '../../core/event/event.ts'
import type { MemoryEntry } from './service.ts'

/** The most characters of a query. Longer queries are cut, so that no search is expensive. */
export const MAX_QUERY_LENGTH = 100_000

/** The most characters of a message. The rest is not remembered. */
const MAX_ENTRY_LENGTH = 100_000

/** The most characters of a session: its newest messages. */
const MAX_SESSION_LENGTH = 2_000_000

/** What each message counts besides its characters: many short ones take memory, too. */
export const ENTRY_OVERHEAD = 100

/** The text of the newest events that fit, in their order. */
export function newestWithin(events: readonly Event[]): MemoryEntry[] {
  const entries: MemoryEntry[] = []
  let length = 0
  for (const event of events.toReversed()) {
    const entry = toEntry(event)
    if (!entry) continue
    length += lengthOf(entry)
    if (length > MAX_SESSION_LENGTH) break
    entries.push(entry)
  }
  return entries.reverse()
}

/** The text of an event, without the model's thinking. Undefined if the event has none. */
function toEntry({ content, partial, author, timestamp }: Event): MemoryEntry | undefined {
  if (!content || partial) return undefined
  const parts: Part[] = []
  let left = MAX_ENTRY_LENGTH
  for (const { text, thought } of content.parts) {
    if (!text || thought) continue
    if (left <= 0) break
    parts.push({ text: text.slice(0, left) })
    left -= text.length
  }
  const shown: Content = { role: content.role, parts }
  return parts.length > 0 ? { content: shown, author, timestamp } : undefined
}

/** The text of an entry, with a line for each part. */
export function textOf({ content }: MemoryEntry): string {
  return content.parts.map(({ text }) => text).join('\n')
}

/** How much an entry counts, in characters. */
export function lengthOf({ content }: MemoryEntry): number {
  return content.parts.reduce((length, { text = '' }) => length + text.length, ENTRY_OVERHEAD)
}
