import { copyJson } from '../base/json.ts'
import { registerShape } from '../base/object-shapes.ts'
import type { Event } from '../event/event.ts'
import type { Inbox } from './in-memory-inbox.ts'
import { InMemoryLog } from './in-memory-log.ts'
import type { StoredRequest } from './in-memory-pending.ts'
import type { ScopedState } from './in-memory-state.ts'
import type { Lease, Session, SessionKey } from './service.ts'

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
  /** When the log was last appended to, in milliseconds since the epoch. */
  updatedAt: number
  /** The epoch of the latest lease, or `FREE`. */
  epoch: number = FREE
  /** When the lease ends, on the monotonic clock. Never a small integer, so that V8 keeps one shape for all sessions. */
  expiresAt: number = Number.NEGATIVE_INFINITY
  /** The inbox, once an item was posted. */
  inbox: Inbox | undefined
  /** The pending requests, if there are any. */
  pending: readonly StoredRequest[] | undefined

  constructor(key: SessionKey, state: ScopedState, now: number) {
    this.key = key
    this.state = state
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

  /** The lease of the current holder. */
  toLease(seq: number, leaseMs: number): Lease {
    return { key: { ...this.key }, epoch: this.epoch, seq, leaseMs }
  }
}

registerShape(
  () => new InMemorySession({ appName: '', userId: '', sessionId: '' }, {} as ScopedState, Number.NEGATIVE_INFINITY),
)
