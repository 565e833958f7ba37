// The leases of sessions in memory. The epoch fences, not the clock: a holder whose lease has ended may write until another holder
// claims the session.
import { isIdle } from './in-memory-prune.ts'
import { FREE, InMemoryLease, type InMemorySession } from './in-memory-session.ts'
import type { InMemoryUsers } from './in-memory-users.ts'
import { DELETING } from './lease.ts'
import type { IdleConditions, Lease, ReleaseOptions, SessionKey } from './service.ts'
import { leaseLost, sessionBusy, sessionGone, sessionNotFound } from './session-errors.ts'

/** The clock of leases, and their length. */
interface LeaseOptions {
  /** Milliseconds on a clock that is never set. */
  readonly monotonicNow: () => number
  /** How long a lease lives without a renewal. */
  readonly leaseMs: number
}

/** Gives out leases, and finds the sessions that they are on. */
export class InMemoryLeases {
  readonly #users: InMemoryUsers
  readonly #options: LeaseOptions
  // An epoch is never used twice, so that a lease on a deleted session is no lease on a new session with the same id.
  #lastEpoch = 0

  constructor(users: InMemoryUsers, options: LeaseOptions) {
    this.#users = users
    this.#options = options
  }

  /** The time on the clock of leases. */
  get now(): number {
    return this.#options.monotonicNow()
  }

  /** Claims a session; throws NOT_FOUND or SESSION_BUSY. `takeOver`: the scheduler whose lease may be taken over. */
  claim(key: SessionKey, takeOver: string | undefined): Lease {
    const session = this.#users.session(key)
    if (!session) throw sessionNotFound(key.sessionId)
    const isAlive = session.epoch !== FREE && this.now < session.expiresAt
    if (isAlive && (takeOver === undefined || takeOver !== session.holder)) throw sessionBusy(key.sessionId)
    const lease = this.give(session)
    session.holder = takeOver
    return lease
  }

  /** Claims a session to delete it, unless it is in use. */
  claimIdle(key: SessionKey, conditions: IdleConditions): Lease | undefined {
    const session = this.#users.session(key)
    return session && isIdle(session, conditions) ? this.claim(key, DELETING) : undefined
  }

  /** Claims the unfinished copies of an app whose holder died. */
  claimDeadCopies(appName: string): Lease[] {
    const { now } = this
    const copies = [...this.#users.of(appName)].flatMap((user) => [...user.copies.values()])
    return copies.filter(({ expiresAt }) => now >= expiresAt).map((copy) => this.give(copy))
  }

  /** Gives a lease on a session, whoever holds it. */
  give(session: InMemorySession): Lease {
    const { leaseMs } = this.#options
    const expiresAt = this.now + leaseMs
    let lastHeldMs: number | undefined
    if (session.epoch !== FREE && session.expiresAt !== Number.NEGATIVE_INFINITY) {
      session.crashes++
      lastHeldMs = expiresAt - session.expiresAt
    }
    session.setAside = undefined
    session.epoch = ++this.#lastEpoch
    session.expiresAt = expiresAt
    return new InMemoryLease(session, this, { seq: session.log.seq, leaseMs, lastHeldMs })
  }

  /** Extends a lease; throws LEASE_LOST. */
  renew(lease: Lease): Lease {
    const { leaseMs } = this.#options
    const session = this.held(lease)
    if (session.expiresAt === Number.NEGATIVE_INFINITY) throw leaseLost(lease.key.sessionId) // it was left as interrupted
    session.expiresAt = this.now + leaseMs
    return new InMemoryLease(session, this, { seq: lease.seq, leaseMs })
  }

  /** Ends a lease, and returns its session; undefined if the lease is lost. Deletes an unfinished copy. */
  release(lease: Lease, options: ReleaseOptions | undefined): InMemorySession | undefined {
    const session = this.#holding(lease)
    if (!session) return undefined
    const copies = this.#users.find(lease.key)?.copies
    const isCopy = copies !== undefined && copies.size > 0 && copies.get(lease.key.sessionId) === session
    if (isCopy) copies.delete(lease.key.sessionId)
    if (options?.setAside !== undefined && !isCopy) {
      session.epoch = FREE
      session.setAside = options.setAside
    } else if (options?.interrupted && !isCopy) session.expiresAt = Number.NEGATIVE_INFINITY
    else {
      session.epoch = FREE
      session.crashes = 0
    }
    return session
  }

  /** The session of a lease; throws LEASE_LOST or SESSION_GONE. */
  held(lease: Lease): InMemorySession {
    const session = this.#holding(lease)
    if (session) return session
    const { sessionId } = lease.key
    const own = InMemoryLease.sessionOf(lease, this)
    const found = this.#users.sessionOrCopy(lease.key)
    throw found && (own ?? found) === found ? leaseLost(sessionId) : sessionGone(sessionId)
  }

  /** Whether retention is deleting a session. */
  isBeingDeleted({ epoch, expiresAt, holder }: InMemorySession): boolean {
    return holder === DELETING && epoch !== FREE && this.now < expiresAt
  }

  #holding(lease: Lease): InMemorySession | undefined {
    const session = InMemoryLease.sessionOf(lease, this) ?? this.#users.sessionOrCopy(lease.key)
    const { epoch } = lease
    return session && session.epoch === epoch && epoch !== FREE ? session : undefined
  }
}
