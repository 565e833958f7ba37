import { canonicalJson, copyJson } from '../../core/base/json.ts'
import type { Entry, Event, NewEntry } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import type { Inbox } from './in-memory-inbox.ts'
import type { ScopedState } from './in-memory-state.ts'
import type { Lease, PendingChanges, Session, SessionCounts, SessionKey } from './service.ts'
import { checkPendingRequest } from './storable-entry.ts'

/** The epoch of a session without a holder. Epochs of leases are larger. */
export const FREE = 0

/** One session in memory. */
export class InMemorySession {
  /** Identifies the session. */
  readonly key: SessionKey
  /** The session's state. */
  readonly state: ScopedState
  /** The session's log. */
  readonly log: InMemoryLog = new InMemoryLog()
  /** The `memo` of the log. */
  readonly memo: object = {}
  /** Its position among all sessions of the service: it grows with each new session. */
  readonly order: number
  /** When the log was last appended to, in milliseconds since the epoch. */
  updatedAt: number
  /** The epoch of the latest lease, or `FREE`. */
  epoch: number = FREE
  /** When the lease ends, on the monotonic clock. Never a small integer, so that V8 keeps one shape for all sessions. */
  expiresAt: number = Number.NEGATIVE_INFINITY
  /** The scheduler that the latest lease was claimed for. */
  holder: string | undefined
  /** How many holders in a row have lost the session. */
  crashes = 0
  /** Why no worker continues the session by itself. */
  setAside: string | undefined
  /** The inbox, once an item was posted. */
  inbox: Inbox | undefined
  /** The pending requests, if there are any. */
  pending: readonly StoredRequest[] | undefined

  constructor(key: SessionKey, state: ScopedState, now: number, order: number) {
    this.key = key
    this.state = state
    this.order = order
    this.updatedAt = now
  }

  /** The events of the log. */
  events(): Event[] {
    const events: Event[] = []
    for (const { event } of this.log.entries) if (event) events.push(event)
    return events
  }

  /** A copy for the caller, with the given events. */
  toSession(events: readonly Event[]): Session {
    const { appName, userId, sessionId: id } = this.key
    const lastUpdateTime = this.updatedAt / 1000
    return { id, appName, userId, state: this.state.toJson(), events: copyJson(events), lastUpdateTime }
  }
}

/** The state that a session counts in. */
export function stateOf(session: InMemorySession, now: number): keyof SessionCounts {
  const { epoch, expiresAt, setAside, inbox, pending } = session
  if (epoch !== FREE) return now < expiresAt ? 'running' : 'interrupted'
  if (setAside !== undefined) return 'setAside'
  if (inbox && !inbox.isEmpty) return 'posted'
  return pending?.length ? 'waiting' : 'idle'
}

/** A lease that knows its session: a holder uses it many times. */
export class InMemoryLease implements Lease {
  readonly #session: InMemorySession
  readonly #service: object
  readonly key: SessionKey
  readonly epoch: number
  readonly seq: number
  readonly leaseMs: number
  readonly crashes: number
  readonly lastHeldMs: number | undefined

  constructor(
    session: InMemorySession,
    service: object,
    { seq, leaseMs, lastHeldMs }: Pick<Lease, 'seq' | 'leaseMs' | 'lastHeldMs'>,
  ) {
    this.#session = session
    this.#service = service
    this.key = { ...session.key }
    this.epoch = session.epoch
    this.seq = seq
    this.leaseMs = leaseMs
    this.crashes = session.crashes
    this.lastHeldMs = lastHeldMs
  }

  /** The session of a lease that this service has made. Undefined for a copy of a lease. */
  static sessionOf(lease: Lease, service: object): InMemorySession | undefined {
    return #session in lease && lease.#service === service ? lease.#session : undefined
  }
}

/** A pending request with its position among all requests that the service has stored. */
export interface StoredRequest {
  /** The request. */
  readonly request: PendingRequest
  /** Grows with each new request. */
  readonly order: number
}

/** The stored requests after changes; undefined if there are none. A request in `known` keeps its position. */
export function withPendingChanges(
  known: readonly StoredRequest[] | undefined,
  { opened, closed }: PendingChanges,
  nextOrder: () => number,
): readonly StoredRequest[] | undefined {
  const orders = new Map(known?.map(({ request, order }) => [request.id, order]))
  const added = opened.map((request) => ({
    request: copyJson(checkPendingRequest(request)),
    order: orders.get(request.id) ?? nextOrder(),
  }))
  const isGone = new Set([...(closed === 'all' ? [] : closed), ...opened.map(({ id }) => id)])
  const kept = closed === 'all' ? [] : (known ?? []).filter(({ request }) => !isGone.has(request.id))
  return kept.length + added.length > 0 ? [...kept, ...added] : undefined
}

/** The requests in the order of their first append. Timestamps are not used, because clocks can be set. */
export function inOrder(stored: readonly StoredRequest[]): StoredRequest[] {
  return stored.toSorted((a, b) => a.order - b.order)
}

/** Logs with fewer entries are searched without an index: it costs more than the search, and stays in memory with the session. */
const INDEXED_ENTRIES = 32

/** The log of one session: entries numbered from 1 without gaps, with unique event ids. */
export class InMemoryLog {
  /** All entries. The array grows with each append. */
  readonly entries: Entry[] = []
  /** Sequence numbers by event id. Only long logs have it. */
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
   * Detects an append that a writer repeats because the reply was lost, and returns the sequence number of the first
   * append; otherwise undefined. An append is a repeat if the log has all its events and, because records have no ids,
   * equal records at the expected positions.
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
    if (entries.length < INDEXED_ENTRIES) {
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
