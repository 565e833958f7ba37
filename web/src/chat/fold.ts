// The rows of a conversation. A long log is read from its end, page by page. Each page becomes a segment of its own, so that an
// earlier page costs the time of that page only.
import type { Entry } from '../../../src/event/event.ts'
import type { LogView } from '../session/log-view.ts'
import type { ChatRow } from './rows.ts'
import { Segment } from './segment.ts'

/** Makes rows from a log that grows at both ends. Only new entries are read. */
export class ChatFold {
  #segments: Segment[] = []
  /** The sequence numbers of the first and the last entry that have rows. */
  #first = 0
  #last = 0

  /** The rows of the log as it is now. The same array is never changed. */
  update(view: LogView): readonly ChatRow[] {
    const { entries } = view
    if (!this.#continues(entries)) this.#segments = []
    const isNew = this.#segments.length === 0
    const earlier = isNew ? entries : entries.slice(0, this.#first - (entries[0]?.seq ?? 0))
    const later = isNew ? [] : entries.slice(this.#indexOf(entries, this.#last) + 1)
    if (isNew || earlier.length > 0) this.#addEarlier(earlier, view)
    this.#segments.at(-1)?.add(later, view)
    this.#last = entries.at(-1)?.seq ?? 0
    return this.#segments.flatMap(({ rows }) => rows)
  }

  /** Are the entries that have rows still there? */
  #continues(entries: readonly Entry[]): boolean {
    const first = entries[0]?.seq ?? 0
    return first > 0 && first <= this.#first && this.#indexOf(entries, this.#last) >= 0
  }

  /** The index of an entry; -1 if it is not there. The numbers have no gaps. */
  #indexOf(entries: readonly Entry[], seq: number): number {
    const at = seq - (entries[0]?.seq ?? 0)
    return entries[at]?.seq === seq ? at : -1
  }

  /** Adds a segment in front, from its first message on: what came before belongs to a turn that is not read yet. */
  #addEarlier(earlier: readonly Entry[], { streamedAs }: LogView): void {
    const isStart = earlier[0]?.seq === 1
    const from = isStart ? 0 : Math.max(0, earlier.findIndex(startsTurn))
    const segment = new Segment()
    segment.add(earlier.slice(from), { recent: [], streamedAs })
    for (const later of this.#segments) later.passTo(segment)
    this.#segments.unshift(segment)
    this.#first = earlier[from]?.seq ?? 0
  }
}

function startsTurn({ event }: Entry): boolean {
  return event?.author === 'user' && event.content?.parts.some((part) => !part.functionResponse) === true
}
