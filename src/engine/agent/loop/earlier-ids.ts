import { isOwnId } from '../../../core/event/own-id.ts'
import { isSendable } from '../request/sendable-calls.ts'

/** The most call ids of models that a session remembers, so that what is stored of a long log stays small. */
const MAX_IDS = 512

/**
 * The ids of calls and requests of earlier invocations. Once models have made `MAX_IDS` of them, every id of a model counts as
 * taken, and the framework gives each further call an id of its own. Such ids are random, so that none can be repeated.
 */
export class EarlierIds {
  readonly #ids: Set<string> = new Set()
  /** The number of ids in the set that the framework has not made. */
  #made = 0

  /** The ids of a checkpoint. `all`: every id of a model is taken. */
  static restore(stored: StoredIds): EarlierIds {
    const ids = new EarlierIds()
    if (stored === 'all') ids.#made = MAX_IDS
    else for (const id of stored) ids.add(id)
    return ids
  }

  /** What a checkpoint must keep: no ids of the framework, because no model and no client may send one. */
  get stored(): StoredIds {
    return this.#isFull ? 'all' : [...this.#ids].filter((id) => !isOwnId(id))
  }

  get #isFull(): boolean {
    return this.#made >= MAX_IDS
  }

  /** Remembers an id. One that no provider accepts is never repeated: calls get another id. */
  add(id: string): void {
    const isOwn = isOwnId(id)
    if (this.#ids.has(id) || (!isOwn && (this.#isFull || !isSendable(id)))) return
    this.#ids.add(id)
    if (!isOwn) this.#made++
  }

  /** Is the id taken? */
  has(id: string): boolean {
    return this.#ids.has(id) || (this.#isFull && !isOwnId(id))
  }
}

/** Ids as a checkpoint keeps them. */
export type StoredIds = readonly string[] | 'all'
