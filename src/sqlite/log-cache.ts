import type { Entry } from '../event/event.ts'

/** A log in memory: its first entries, and what its reader made of it. */
export interface CachedLog {
  readonly entries: Entry[]
  readonly memo: object
  /** Of its entries as text, and a little. */
  size: number
}

/** What an empty log takes. */
const EMPTY_SIZE = 500

/**
 * Logs that were read lately, by the row of their session. A log only grows and a row is never given again, so what is
 * here is the beginning of what is in the file, whoever has written since.
 */
export class LogCache {
  readonly #logs: Map<number, CachedLog> = new Map()
  readonly #maxSize: number
  #size = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** The log as far as it is known; never beyond `lastSeq`. */
  open(session: number, lastSeq: number): CachedLog {
    const known = this.#logs.get(session)
    if (known && seqOf(known) <= lastSeq) {
      this.#logs.delete(session) // and set again: the latest used is the last to go
      this.#logs.set(session, known)
      return known
    }
    this.forget(session)
    const fresh: CachedLog = { entries: [], memo: {}, size: EMPTY_SIZE }
    this.#logs.set(session, fresh)
    this.#size += EMPTY_SIZE
    return fresh
  }

  /** Adds what follows what is known; anything else is read when it is needed. */
  extend(session: number, seq: number, entries: readonly Entry[], size: number): void {
    const log = this.#logs.get(session)
    if (!log || seqOf(log) !== seq) return
    for (const entry of entries) log.entries.push(entry)
    log.size += size
    this.#size += size
    this.#makeRoom()
  }

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

/** The last sequence number that is in memory. */
export function seqOf({ entries }: CachedLog): number {
  return entries.length
}
