import type { Ports } from '../../../core/base/ports.ts'
import { expiryOf, type PendingRequest } from '../../../core/event/pending-request.ts'
import type { SessionService } from '../../../services/session/service.ts'
import type { SessionOfApp } from './work-item.ts'

/** The list is read again for new requests after this time, in milliseconds. */
const NEW_MS = 30_000
/** A list with overdue requests is read again after this time: they may be for another worker, or fail. */
const OVERDUE_MS = 5_000

/** What the search needs of the runner. */
interface Search {
  /** The app. */
  readonly appName: string
  /** The clocks. */
  readonly ports: Pick<Ports, 'now' | 'monotonicNow'>
  /** Stores the list. */
  readonly sessionService: Pick<SessionService, 'overdue' | 'pendingSummary'>
  /** Reads the list, and returns the requests that match. */
  findPending(matches: (request: PendingRequest) => boolean): Promise<PendingRequest[]>
}

/**
 * Finds sessions whose requests have expired. Of a store that cannot search for them, the list of pending requests is read when it may have
 * one: when the first of them expires, or when it has new ones. Nothing is kept of it but a time.
 */
export class OverdueRequests {
  readonly #search: Search
  /** When the first request expires, in milliseconds since the epoch. */
  #earliest = Number.POSITIVE_INFINITY
  #newest: number | undefined
  /** When the list was last read, on the monotonic clock. */
  #readAt = Number.NEGATIVE_INFINITY

  constructor(search: Search) {
    this.#search = search
  }

  /** The sessions with overdue requests, at most `limit` if the store can search. None while a list need not be read. */
  async find(limit: number): Promise<SessionOfApp[]> {
    const { appName, ports, sessionService } = this.#search
    if (sessionService.overdue) return await sessionService.overdue({ appName, now: ports.now(), limit })
    return await this.#findInList()
  }

  async #findInList(): Promise<SessionOfApp[]> {
    const { appName, ports, sessionService, findPending } = this.#search
    const age = ports.monotonicNow() - this.#readAt
    const isOverdue = this.#earliest <= ports.now() && age >= OVERDUE_MS
    if (!isOverdue && age < NEW_MS) return []
    const newest = (await sessionService.pendingSummary?.({ appName }))?.newest
    if (!isOverdue && newest !== undefined && newest === this.#newest) {
      this.#readAt = ports.monotonicNow()
      return []
    }
    let earliest = Number.POSITIVE_INFINITY
    const late = await findPending((request) => {
      earliest = Math.min(earliest, expiryOf(request))
      return expiryOf(request) <= ports.now()
    })
    this.#earliest = earliest
    this.#newest = newest
    this.#readAt = ports.monotonicNow()
    return late.map(({ userId, sessionId }) => ({ userId, sessionId }))
  }
}
