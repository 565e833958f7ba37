import { canonicalJson } from '../base/json.ts'
import { registerShape } from '../base/object-shapes.ts'
import type { Entry, NewEntry } from '../event/event.ts'
import type { ScopedState } from './in-memory-state.ts'

/** Entries that are looked through one by one. */
const SHORT = 16

/** A session's entries, numbered from 1 without gaps, each event id at most once. */
export class InMemoryLog {
  readonly entries: Entry[] = []
  /** Where each event is; made when looking through the entries would take longer. */
  #seqs: Map<string, number> | undefined

  /** The last sequence number. */
  get seq(): number {
    return this.entries.length
  }

  /**
   * Adds what is not there yet and applies its state deltas. Gives the last sequence number, or where the last of the
   * given events is when none was new.
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
   * Was this append made before, and its acknowledgement lost? Then the sequence number it gave: all its events are
   * known, and its records, which have no ids, stand where they would have been put.
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
    if (entries.length < SHORT) {
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
