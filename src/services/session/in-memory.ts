import { copyJson, type JsonObject } from '../../core/base/json.ts'
import { systemPorts } from '../../core/base/ports.ts'
import { anything, callback, checkOptions, type OptionRules } from '../../core/error/check-options.ts'
import type { NewEntry } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { checkId, checkKey, checkUser } from './check-key.ts'
import { importedEvents } from './imported-events.ts'
import { InMemoryLeases } from './in-memory-leases.ts'
import { logPage, prunablePage, selectEvents, sessionPage, usageOf, userState } from './in-memory-lists.ts'
import { listPending, pendingPage, pendingSummary } from './in-memory-pending.ts'
import { InMemoryPins } from './in-memory-pins.ts'
import { InMemoryPosts } from './in-memory-posts.ts'
import { withPendingChanges } from './in-memory-session.ts'
import { InMemoryUsers } from './in-memory-users.ts'
import { interruptedSessions, postedSessions, sessionCounts, setAsidePage } from './in-memory-work.ts'
import { checkLeaseMs, DEFAULT_LEASE_MS } from './lease.ts'
import type {
  AppendOptions,
  ClaimOptions,
  HeldLog,
  IdleConditions,
  InboxItem,
  Lease,
  LogPage,
  Page,
  PageOptions,
  PendingSummary,
  PinService,
  PostedItem,
  PrunableSession,
  PruneFilter,
  ReleaseOptions,
  Session,
  SessionCounts,
  SessionKey,
  SessionService,
  SetAsideSession,
  UserUsage,
} from './service.ts'
import { sessionNotFound, staleAppend } from './session-errors.ts'
import { toStorableEntry } from './storable-entry.ts'
import type { PostOptions } from './waiting-limits.ts'

/** Options of an in-memory session service. */
export interface InMemorySessionOptions {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  now?: (() => number) | undefined
  /** How long a lease lives without a renewal, in milliseconds. Default: 15,000; at least 1,000. */
  leaseMs?: number | undefined
  /** Milliseconds on a clock that is never set, for leases. Default: `performance.now`, or `now` when that is given. */
  monotonicNow?: (() => number) | undefined
  /** Creates the ids of sessions and events. Default: random ids. */
  newId?: (() => string) | undefined
}

const RULES: OptionRules<InMemorySessionOptions> = {
  now: callback,
  monotonicNow: callback,
  leaseMs: anything, // `checkLeaseMs` checks it
  newId: callback,
}

/**
 * Keeps sessions in the memory of this process.
 *
 * @example
 * const sessions = new InMemorySessionService()
 * const { id } = await sessions.createSession({ appName: 'shop', userId: 'ada' })
 */
export class InMemorySessionService implements SessionService {
  /** The hashes of definitions that apps trust. */
  readonly pins: PinService = new InMemoryPins()
  readonly #users: InMemoryUsers = new InMemoryUsers()
  readonly #posts: InMemoryPosts = new InMemoryPosts()
  readonly #leases: InMemoryLeases
  readonly #now: () => number
  readonly #newId: () => string

  constructor(options: InMemorySessionOptions = {}) {
    checkOptions('InMemorySessionService', options, RULES)
    this.#now = options.now ?? systemPorts.now
    const { leaseMs = DEFAULT_LEASE_MS, monotonicNow = options.now ?? systemPorts.monotonicNow } = options
    checkLeaseMs(leaseMs)
    this.#leases = new InMemoryLeases(this.#users, { monotonicNow, leaseMs })
    this.#newId = options.newId ?? systemPorts.newId
  }

  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { appName, userId, sessionId = this.#newId(), state, events } = options
    const imported = events && importedEvents(events, this.#newId).map((event) => ({ event: copyJson(event) }))
    const { session, user } = this.#users.create({ appName, userId, sessionId }, state, this.#now)
    if (imported) session.log.add(imported, session.state)
    user.sessions.set(sessionId, session)
    return session.toSession(imported ? session.events() : [])
  }

  async createCopy(options: SessionKey & { state?: JsonObject | undefined }): Promise<Lease> {
    const { appName, userId, sessionId, state } = options
    const { session, user } = this.#users.create({ appName, userId, sessionId }, state, this.#now)
    user.copies.set(sessionId, session)
    return this.#leases.give(session)
  }

  async getSession(options: Parameters<SessionService['getSession']>[0]): Promise<Session | undefined> {
    const session = this.#users.session(options)
    return session && selectEvents(session, options)
  }

  async listSessions({ appName, userId }: { appName: string; userId: string }): Promise<Session[]> {
    checkId('appName', appName)
    checkId('userId', userId)
    const sessions = this.#users.find({ appName, userId })?.sessions.values() ?? []
    return Array.from(sessions, (session) => session.toSession([]))
  }

  async listSessionPage(
    options: Parameters<NonNullable<SessionService['listSessionPage']>>[0],
  ): Promise<Page<Session>> {
    return sessionPage(this.#users, options)
  }

  async usage(options: Parameters<NonNullable<SessionService['usage']>>[0]): Promise<UserUsage> {
    return usageOf(this.#users, options)
  }

  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    const session = this.#users.deleteSession(key)
    if (session) this.#posts.forget(session)
  }

  async deleteUser({ appName, userId }: { appName: string; userId: string }): Promise<void> {
    checkUser({ appName, userId })
    for (const session of this.#users.deleteUser({ appName, userId })) this.#posts.forget(session)
  }

  async userState({ appName, userId }: { appName: string; userId: string }): Promise<JsonObject> {
    return userState(this.#users, { appName, userId })
  }

  async findPrunable(filter: PruneFilter & PageOptions): Promise<Page<PrunableSession>> {
    return prunablePage(this.#users, filter)
  }

  async claimIdle(key: SessionKey, conditions: IdleConditions): Promise<Lease | undefined> {
    return this.#leases.claimIdle(key, conditions)
  }

  // `claim`, `release`, `read` and `append` run in every run. They are not async: the frames of async functions would be
  // most of their allocations.
  claim(key: SessionKey, options?: ClaimOptions): Promise<Lease> {
    try {
      return Promise.resolve(this.#leases.claim(key, options?.takeOver))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async renew(lease: Lease): Promise<Lease> {
    return this.#leases.renew(lease)
  }

  release(lease: Lease, options?: ReleaseOptions): Promise<void> {
    const session = this.#leases.release(lease, options)
    if (session) this.#posts.notify(session.key)
    return DONE
  }

  read(lease: Lease): Promise<HeldLog> {
    try {
      const { log, state, memo } = this.#leases.held(lease)
      return Promise.resolve({ entries: log.entries, state, memo })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async readLog(options: Parameters<NonNullable<SessionService['readLog']>>[0]): Promise<LogPage | undefined> {
    return logPage(this.#users, options)
  }

  append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): Promise<number> {
    try {
      return Promise.resolve(this.#append(lease, expectedSeq, entries, options))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): number {
    const session = this.#leases.held(lease)
    const { log } = session
    if (expectedSeq !== log.seq) {
      const repeated = log.seqOfRepeat(expectedSeq, entries)
      if (repeated === undefined) throw staleAppend(expectedSeq, log.seq)
      if (options?.completesCopy) this.#users.completeCopy(session)
      return repeated
    }
    const pending = options?.pending && withPendingChanges(session.pending, options.pending, this.#users.nextOrder)
    const storable = entries.map(toStorableEntry)
    const seq = log.add(storable, session.state)
    if (options?.drained) this.#posts.drain(session, options.drained)
    if (options?.pending) session.pending = pending
    session.updatedAt = this.#now()
    if (options?.completesCopy) this.#users.completeCopy(session)
    return seq
  }

  async post(key: SessionKey, item: InboxItem, { maxWaiting }: PostOptions = {}): Promise<number> {
    const session = this.#users.session(key)
    if (maxWaiting) this.#posts.throwIfTooMany(key, maxWaiting, { session, id: item.id })
    if (!session || this.#leases.isBeingDeleted(session)) throw sessionNotFound(key.sessionId)
    return this.#posts.add(session, item)
  }

  async inbox(lease: Lease): Promise<PostedItem[]> {
    return this.#leases.held(lease).inbox?.items() ?? []
  }

  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    return listPending(this.#users, filter)
  }

  async pendingPage(filter: Parameters<NonNullable<SessionService['pendingPage']>>[0]): Promise<Page<PendingRequest>> {
    return pendingPage(this.#users, filter)
  }

  async pendingSummary(filter: Parameters<SessionService['pending']>[0]): Promise<PendingSummary> {
    return pendingSummary(this.#users, filter)
  }

  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    return interruptedSessions(this.#users, appName, this.#leases.now)
  }

  async withInbox(filter: { appName: string; limit: number }): Promise<SessionKey[]> {
    return postedSessions(this.#posts.sessions, filter, this.#leases.now)
  }

  async setAside(
    filter: { appName: string; userId?: string | undefined } & PageOptions,
  ): Promise<Page<SetAsideSession>> {
    return setAsidePage(this.#users, filter)
  }

  async countSessions({ appName }: { appName: string }): Promise<SessionCounts> {
    return sessionCounts(this.#users, appName, this.#leases.now)
  }

  watch(listener: (key: SessionKey) => void): () => void {
    return this.#posts.watch(listener)
  }

  async claimUnfinishedCopies({ appName }: { appName: string }): Promise<Lease[]> {
    checkId('appName', appName)
    return this.#leases.claimDeadCopies(appName)
  }
}

const DONE: Promise<void> = Promise.resolve()
