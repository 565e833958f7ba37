import { canonicalJson } from '../base/json.ts'
import { registerShape } from '../base/object-shapes.ts'
import type { Entry, NewEntry } from '../event/event.ts'
import type { ScopedState } from './in-memory-state.ts'

/** A shorter log is searched entry by entry. */
const MIN_INDEXED_LENGTH = 16

/** The log of one session: entries numbered from 1 without gaps, with unique event ids. */
export class InMemoryLog {
  /** All entries. The array grows with each append. */
  readonly entries: Entry[] = []
  /** Sequence numbers by event id; created when a search entry by entry would be slow. */
  #seqs: Map<string, number> | undefined

  /** The last sequence number. */
  get seq(): number {
    return this.entries.length
  }

  /**
   * Appends the entries whose events are new and applies their state deltas. Returns the last sequence number. If no
   * entry was new, returns the sequence number of the last given event.
   */
  add(storable: readonly NewEntry[], state: ScopedState): number {
    const before = this.seq
    let repeated = before
    for (let at = 0; at < storable.length; at++) {
      const entry = storable[at] as NewEntry
      if (entry.event === undefined) {
        this.entries.push({ seq: this.seq + 1, record: entry.record })
        continue
      }
      const { event } = entry
      if (event.partial) continue
      const known = this.#seqOf(event.id)
      if (known !== undefined) {
        repeated = known
        continue
      }
      const seq = this.seq + 1
      this.#seqs?.set(event.id, seq)
      this.entries.push({ seq, event })
      if (event.actions.stateDelta) state.apply(event.actions.stateDelta)
    }
    return this.seq > before ? this.seq : repeated
  }

  /**
   * The sequence number that an earlier, equal append returned; undefined if there was none. A writer repeats an append
   * when the reply was lost. Then all its events are in the log, and its records, which have no ids, are at their positions.
   */
  seqOfRepeat(expectedSeq: number, added: readonly NewEntry[]): number | undefined {
    let seq: number | undefined
    for (const [index, entry] of added.entries()) {
      seq = entry.event ? this.#seqOf(entry.event.id) : this.#seqOfRecord(expectedSeq + index + 1, entry.record)
      if (seq === undefined) return undefined
    }
    return seq
  }

  #seqOf(eventId: string): number | undefined {
    const { entries } = this
    if (entries.length < MIN_INDEXED_LENGTH) {
      for (let at = 0; at < entries.length; at++) if (entries[at]?.event?.id === eventId) return at + 1
      return undefined
    }
    if (!this.#seqs) {
      this.#seqs = new Map()
      for (const { seq, event } of entries) if (event) this.#seqs.set(event.id, seq)
    }
    return this.#seqs.get(eventId)
  }

  #seqOfRecord(seq: number, record: unknown): number | undefined {
    const stored = this.entries[seq - 1]?.record
    return stored && canonicalJson(stored) === canonicalJson(record) ? seq : undefined
  }
}

registerShape(() => new InMemoryLog())
