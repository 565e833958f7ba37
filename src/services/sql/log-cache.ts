import type { Entry } from '../../core/event/event.ts'

/** The start of a log in memory. */
export interface CachedLog {
  /** The entries from the first one on. */
  readonly entries: Entry[]
  /** Identifies the cached log. The runner attaches derived data to it. */
  readonly memo: object
  /** Length of the entries as JSON, plus a constant. */
  size: number
}

/** Size of an empty log. */
const EMPTY_SIZE = 500

/**
 * Caches recently read logs by the row id of their session. A log only grows and row ids are never reused, so a cached log
 * is always a prefix of the log in the file.
 */
export class LogCache {
  readonly #logs: Map<number, CachedLog> = new Map()
  readonly #maxSize: number
  #size = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Returns the cached start of a log, at most up to `lastSeq`. */
  open(session: number, lastSeq: number): CachedLog {
    const known = this.#logs.get(session)
    if (known && seqOf(known) <= lastSeq) {
      this.#logs.delete(session) // set again below: the map keeps the most recently used log last
      this.#logs.set(session, known)
      return known
    }
    this.forget(session)
    const fresh: CachedLog = { entries: [], memo: {}, size: EMPTY_SIZE }
    this.#logs.set(session, fresh)
    this.#size += EMPTY_SIZE
    return fresh
  }

  /** Adds entries that directly follow the cached ones; other entries are read from the file later. */
  extend(session: number, seq: number, entries: readonly Entry[], size: number): void {
    const log = this.#logs.get(session)
    if (!log || seqOf(log) !== seq) return
    for (const entry of entries) log.entries.push(entry)
    log.size += size
    this.#size += size
    this.#makeRoom()
  }

  /**
   * Adds all entries that were read after the first `from` entries of a known log, and returns the whole log. The cache may have
   * forgotten or extended the known log while they were read.
   */
  complete(
    { id, seq }: { readonly id: number; readonly seq: number },
    read: { readonly known: CachedLog; readonly from: number; readonly added: readonly Entry[]; readonly size: number },
  ): CachedLog {
    const log = this.open(id, seq)
    const { known, from, added, size } = read
    if (seqOf(log) >= from) this.extend(id, seqOf(log), added.slice(seqOf(log) - from), size)
    else this.extend(id, seqOf(log), [...known.entries.slice(seqOf(log), from), ...added], known.size + size)
    return log
  }

  /** Removes the log of a session. */
  forget(session: number): void {
    this.#size -= this.#logs.get(session)?.size ?? 0
    this.#logs.delete(session)
  }

  #makeRoom(): void {
    for (const session of this.#logs.keys()) {
      if (this.#size <= this.#maxSize) return
      this.forget(session)
    }
  }
}

/** The last cached sequence number. */
export function seqOf({ entries }: CachedLog): number {
  return entries.length
}
