import type { Entry } from '../event/event.ts'
import type { LogMemo } from '../session/service.ts'

/** A log in memory: its entries after `fromSeq`, and what its reader made of it. */
export interface CachedLog {
  readonly fromSeq: number
  readonly entries: Entry[]
  readonly memo: LogMemo
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

  /** The log from `fromSeq` on, as far as it is known; never beyond `lastSeq`. */
  open(session: number, fromSeq: number, lastSeq: number): CachedLog {
    const known = this.#logs.get(session)
    if (known && known.fromSeq <= fromSeq && seqOf(known) <= lastSeq) {
      this.#logs.delete(session) // set again below: the map keeps the most recently used log last
      this.#logs.set(session, known)
      return known
    }
    this.forget(session)
    const fresh: CachedLog = { fromSeq, entries: [], memo: {}, size: EMPTY_SIZE }
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
export function seqOf({ fromSeq, entries }: CachedLog): number {
  return fromSeq + entries.length
}
