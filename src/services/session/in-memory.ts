import { copyJson, type JsonObject, jsonSize } from '../../core/base/json.ts'
import { systemPorts } from '../../core/base/ports.ts'
import { checkOptions } from '../../core/error/check-options.ts'
import type { NewEntry } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { checkFilter, checkId, checkKey, checkNewKey, checkUser } from './check-key.ts'
import { importedEvents } from './imported-events.ts'
import { Inbox } from './in-memory-inbox.ts'
import { type InMemoryApp, type InMemoryUser, isIdle, prunablePage, sessionPage } from './in-memory-lists.ts'
import { type InMemorySessionOptions, sessionOptionRules } from './in-memory-options.ts'
import { InMemoryPins } from './in-memory-pins.ts'
import { FREE, InMemoryLease, InMemorySession, withPendingChanges } from './in-memory-session.ts'
import { ScopedState, scopeToJson, sizeOfScope } from './in-memory-state.ts'
import { throwIfTooManyWait } from './in-memory-waiting.ts'
import { addWatcher, notifyWatchers, type SessionWatchers } from './in-memory-watchers.ts'
import {
  foundPage,
  interruptedSessions,
  listPending,
  overdueSessions,
  pendingPage,
  pendingSummary,
  postedSessions,
  sessionCounts,
  setAsidePage,
} from './in-memory-work.ts'
import { checkLeaseMs, DEFAULT_LEASE_MS, DELETING } from './lease.ts'
import { readLogStart, takePage } from './page.ts'
import type {
  AppendOptions,
  ClaimOptions,
  FoundSession,
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
  SessionFilter,
  SessionKey,
  SessionService,
  SetAsideSession,
  UserUsage,
} from './service.ts'
import { leaseLost, sessionBusy, sessionExists, sessionGone, sessionNotFound, staleAppend } from './session-errors.ts'
import { toStorableEntry } from './storable-entry.ts'
import type { PostOptions } from './waiting-limits.ts'

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
  readonly #apps: Map<string, InMemoryApp> = new Map()
  /** Sessions that may have inbox items, in the order of their oldest ones: workers look for them all the time. */
  readonly #posted: Set<InMemorySession> = new Set()
  readonly #watchers: SessionWatchers = new Set()
  // An epoch is never used twice, so that a lease on a deleted session is no lease on a new session with the same id.
  #lastEpoch = 0
  #lastOrder = 0
  readonly #now: () => number
  readonly #monotonicNow: () => number
  readonly #leaseMs: number
  readonly #newId: () => string

  constructor(options: InMemorySessionOptions = {}) {
    checkOptions('InMemorySessionService', options, sessionOptionRules)
    this.#now = options.now ?? systemPorts.now
    this.#monotonicNow = options.monotonicNow ?? options.now ?? systemPorts.monotonicNow
    this.#leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    checkLeaseMs(this.#leaseMs)
    this.#newId = options.newId ?? systemPorts.newId
  }

  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { appName, userId, sessionId = this.#newId(), state, events } = options
    const imported = events && importedEvents(events, this.#newId).map((event) => ({ event: copyJson(event) }))
    const { session, user } = this.#create({ appName, userId, sessionId }, state)
    if (imported) session.log.add(imported, session.state)
    user.sessions.set(sessionId, session)
    return session.toSession(imported ? session.events() : [])
  }

  async createCopy(options: SessionKey & { state?: JsonObject | undefined }): Promise<Lease> {
    const { appName, userId, sessionId, state } = options
    const { session, user } = this.#create({ appName, userId, sessionId }, state)
    user.copies.set(sessionId, session)
    return this.#lease(session)
  }

  /** Creates a session that the caller stores. All code that can throw comes before the first change to shared state. */
  #create(key: SessionKey, state: JsonObject | undefined): { session: InMemorySession; user: InMemoryUser } {
    checkNewKey(key)
    const { appName, userId, sessionId } = key
    const app = this.#apps.get(appName) ?? { state: new Map(), users: new Map() }
    const user = app.users.get(userId) ?? { state: new Map(), sessions: new Map(), copies: new Map() }
    if (user.sessions.has(sessionId) || user.copies.has(sessionId)) throw sessionExists(sessionId)
    const initial = state && copyJson(state)
    const session = new InMemorySession(key, new ScopedState(app.state, user.state), this.#now(), this.#nextOrder())
    if (initial) session.state.apply(initial)
    app.users.set(userId, user)
    this.#apps.set(appName, app)
    return { session, user }
  }

  async getSession(options: Parameters<SessionService['getSession']>[0]): Promise<Session | undefined> {
    const session = this.#find(options)
    if (!session) return undefined
    const { numRecentEvents, afterTimestamp } = options.config ?? {}
    let events = session.events()
    if (afterTimestamp !== undefined) events = events.filter((event) => event.timestamp >= afterTimestamp)
    if (numRecentEvents !== undefined) events = events.slice(Math.max(0, events.length - numRecentEvents))
    return session.toSession(events)
  }

  async listSessions({ appName, userId }: { appName: string; userId: string }): Promise<Session[]> {
    checkId('appName', appName)
    checkId('userId', userId)
    const sessions = this.#apps.get(appName)?.users.get(userId)?.sessions.values() ?? []
    return Array.from(sessions, (session) => session.toSession([]))
  }

  async listSessionPage(
    options: Parameters<NonNullable<SessionService['listSessionPage']>>[0],
  ): Promise<Page<Session>> {
    return sessionPage(this.#userOf(options), options)
  }

  async findSessions(filter: SessionFilter & PageOptions): Promise<Page<FoundSession>> {
    return foundPage(this.#sessionsOf(filter.appName), filter, this.#monotonicNow())
  }

  async usage(options: Parameters<NonNullable<SessionService['usage']>>[0]): Promise<UserUsage> {
    const { appName, userId, sessionId, without = [] } = options
    checkFilter({ appName, userId, sessionId })
    const user = this.#userOf(options)
    const left = new Set(without)
    return {
      sessions: user?.sessions.size ?? 0,
      userState: sizeOfScope(user?.state, left),
      sessionState: sizeOfScope(user?.sessions.get(sessionId ?? '')?.state.own, left),
    }
  }

  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    const user = this.#userOf(key)
    const session = user?.sessions.get(key.sessionId)
    if (!user || !session) return
    user.sessions.delete(key.sessionId)
    session.epoch = FREE // its lease is lost
    this.#posted.delete(session)
    // A Map that is filled and emptied again and again keeps deleted values alive until the next garbage collection.
    if (user.sessions.size === 0) user.sessions = new Map()
  }

  async deleteUser({ appName, userId }: { appName: string; userId: string }): Promise<void> {
    checkUser({ appName, userId })
    const users = this.#apps.get(appName)?.users
    const user = users?.get(userId)
    for (const session of [...(user?.sessions.values() ?? []), ...(user?.copies.values() ?? [])]) {
      session.epoch = FREE
      this.#posted.delete(session)
    }
    users?.delete(userId)
  }

  async userState({ appName, userId }: { appName: string; userId: string }): Promise<JsonObject> {
    checkUser({ appName, userId })
    return scopeToJson(this.#apps.get(appName)?.users.get(userId)?.state)
  }

  async findPrunable(filter: PruneFilter & PageOptions): Promise<Page<PrunableSession>> {
    return prunablePage(this.#apps.get(filter.appName), filter)
  }

  async claimIdle(key: SessionKey, conditions: IdleConditions): Promise<Lease | undefined> {
    const session = this.#find(key)
    return session && isIdle(session, conditions) ? this.#claim(key, DELETING) : undefined
  }

  // `claim`, `release`, `read` and `append` run in every run. They are not async: the frames of async functions would be
  // most of their allocations.
  claim(key: SessionKey, options?: ClaimOptions): Promise<Lease> {
    try {
      return Promise.resolve(this.#claim(key, options?.takeOver))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #claim(key: SessionKey, takeOver: string | undefined): Lease {
    const session = this.#find(key)
    if (!session) throw sessionNotFound(key.sessionId)
    const isAlive = session.epoch !== FREE && this.#monotonicNow() < session.expiresAt
    if (isAlive && (takeOver === undefined || takeOver !== session.holder)) throw sessionBusy(key.sessionId)
    const lease = this.#lease(session)
    session.holder = takeOver
    return lease
  }

  #isBeingDeleted({ epoch, expiresAt, holder }: InMemorySession): boolean {
    return holder === DELETING && epoch !== FREE && this.#monotonicNow() < expiresAt
  }

  #lease(session: InMemorySession): Lease {
    const expiresAt = this.#monotonicNow() + this.#leaseMs
    let lastHeldMs: number | undefined
    if (session.epoch !== FREE && session.expiresAt !== Number.NEGATIVE_INFINITY) {
      session.crashes++
      lastHeldMs = expiresAt - session.expiresAt
    }
    session.setAside = undefined
    session.epoch = ++this.#lastEpoch
    session.expiresAt = expiresAt
    return new InMemoryLease(session, this, { seq: session.log.seq, leaseMs: this.#leaseMs, lastHeldMs })
  }

  async renew(lease: Lease): Promise<Lease> {
    const session = this.#held(lease)
    if (session.expiresAt === Number.NEGATIVE_INFINITY) throw leaseLost(lease.key.sessionId) // it was left as interrupted
    session.expiresAt = this.#monotonicNow() + this.#leaseMs
    return new InMemoryLease(session, this, { seq: lease.seq, leaseMs: this.#leaseMs })
  }

  release(lease: Lease, options?: ReleaseOptions): Promise<void> {
    const session = this.#holding(lease)
    if (!session) return DONE
    const copies = this.#userOf(lease.key)?.copies
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
    if (this.#watchers.size > 0) notifyWatchers(this.#watchers, session.key)
    return DONE
  }

  read(lease: Lease): Promise<HeldLog> {
    try {
      const { log, state, memo } = this.#held(lease)
      return Promise.resolve({ entries: log.entries, state, memo })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async readLog(options: Parameters<NonNullable<SessionService['readLog']>>[0]): Promise<LogPage | undefined> {
    const { limit = Number.POSITIVE_INFINITY, maxBytes } = options
    const start = readLogStart(options)
    const log = this.#find(options)?.log
    if (!log) return undefined
    const entries = log.entries.slice(start, start + limit)
    if (maxBytes === undefined || entries.length === 0) return { entries: copyJson(entries), lastSeq: log.seq }
    const { items } = takePage(entries, { limit: entries.length, maxBytes }, (entry) => {
      return { item: copyJson(entry), position: entry.seq, bytes: jsonSize(entry, maxBytes) }
    })
    return { entries: items, lastSeq: log.seq }
  }

  append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): Promise<number> {
    try {
      return Promise.resolve(this.#append(lease, expectedSeq, entries, options))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): number {
    // The epoch fences, not the clock: a holder whose lease has ended may write until another holder claims the session.
    const session = this.#held(lease)
    const { log } = session
    if (expectedSeq !== log.seq) {
      const repeated = log.seqOfRepeat(expectedSeq, entries)
      if (repeated === undefined) throw staleAppend(expectedSeq, log.seq)
      if (options?.completesCopy) this.#completeCopy(session)
      return repeated
    }
    const pending = options?.pending && withPendingChanges(session.pending, options.pending, this.#nextOrder)
    const storable = entries.map(toStorableEntry)
    const seq = log.add(storable, session.state)
    if (options?.drained) this.#drain(session, options.drained)
    if (options?.pending) session.pending = pending
    session.updatedAt = this.#now()
    if (options?.completesCopy) this.#completeCopy(session)
    return seq
  }

  #drain(session: InMemorySession, ids: readonly string[]): void {
    session.inbox?.remove(ids)
    if (session.inbox?.isEmpty) this.#posted.delete(session)
  }

  #completeCopy(session: InMemorySession): void {
    const { sessionId } = session.key
    const user = this.#userOf(session.key)
    if (user?.copies.delete(sessionId)) user.sessions.set(sessionId, session)
  }

  readonly #nextOrder = (): number => ++this.#lastOrder

  async post(key: SessionKey, item: InboxItem, { maxWaiting }: PostOptions = {}): Promise<number> {
    const session = this.#find(key)
    if (maxWaiting && !session?.inbox?.hasSeen(item.id)) throwIfTooManyWait(this.#posted, key, maxWaiting)
    if (!session || this.#isBeingDeleted(session)) throw sessionNotFound(key.sessionId)
    session.inbox ??= new Inbox()
    const { seq } = session.log
    session.inbox.post(item, seq)
    if (!session.inbox.isEmpty) this.#posted.add(session)
    notifyWatchers(this.#watchers, session.key)
    return seq
  }

  async inbox(lease: Lease): Promise<PostedItem[]> {
    return this.#held(lease).inbox?.items() ?? []
  }

  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    return listPending(this.#sessionsOf(filter.appName), filter)
  }

  async pendingPage(filter: Parameters<NonNullable<SessionService['pendingPage']>>[0]): Promise<Page<PendingRequest>> {
    return pendingPage(this.#sessionsOf(filter.appName), filter)
  }

  async pendingSummary(filter: Parameters<SessionService['pending']>[0]): Promise<PendingSummary> {
    return pendingSummary(this.#sessionsOf(filter.appName), filter)
  }

  async overdue(filter: { appName: string; now: number; limit: number }): Promise<SessionKey[]> {
    checkId('appName', filter.appName)
    return overdueSessions(this.#sessionsOf(filter.appName), filter)
  }

  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    checkId('appName', appName)
    return interruptedSessions(this.#sessionsOf(appName), this.#monotonicNow())
  }

  async withInbox(filter: { appName: string; limit: number }): Promise<SessionKey[]> {
    return postedSessions(this.#posted, filter, this.#monotonicNow())
  }

  async setAside(
    filter: { appName: string; userId?: string | undefined } & PageOptions,
  ): Promise<Page<SetAsideSession>> {
    return setAsidePage(this.#sessionsOf(filter.appName), filter)
  }

  async countSessions({ appName }: { appName: string }): Promise<SessionCounts> {
    checkId('appName', appName)
    return sessionCounts(this.#sessionsOf(appName), this.#monotonicNow())
  }

  watch(listener: (key: SessionKey) => void): () => void {
    return addWatcher(this.#watchers, listener)
  }

  async claimUnfinishedCopies({ appName }: { appName: string }): Promise<Lease[]> {
    checkId('appName', appName)
    const now = this.#monotonicNow()
    const copies = [...(this.#apps.get(appName)?.users.values() ?? [])].flatMap((user) => [...user.copies.values()])
    return copies.filter(({ expiresAt }) => now >= expiresAt).map((copy) => this.#lease(copy))
  }

  *#sessionsOf(appName: string): Iterable<InMemorySession> {
    for (const { sessions } of this.#apps.get(appName)?.users.values() ?? []) yield* sessions.values()
  }

  #find(key: SessionKey): InMemorySession | undefined {
    const found = this.#userOf(key)?.sessions.get(key.sessionId)
    if (!found) checkKey(key) // the key of a stored session is valid
    return found
  }

  #held(lease: Lease): InMemorySession {
    const session = this.#holding(lease)
    if (session) return session
    const { sessionId } = lease.key
    const own = InMemoryLease.sessionOf(lease, this)
    const found = this.#sessionOrCopy(lease.key)
    throw found && (own ?? found) === found ? leaseLost(sessionId) : sessionGone(sessionId)
  }

  #sessionOrCopy(key: SessionKey): InMemorySession | undefined {
    const user = this.#userOf(key)
    return user?.sessions.get(key.sessionId) ?? user?.copies.get(key.sessionId)
  }

  #userOf({ appName, userId }: { readonly appName: string; readonly userId: string }): InMemoryUser | undefined {
    return this.#apps.get(appName)?.users.get(userId)
  }

  #holding(lease: Lease): InMemorySession | undefined {
    const session = InMemoryLease.sessionOf(lease, this) ?? this.#sessionOrCopy(lease.key)
    const { epoch } = lease
    return session && session.epoch === epoch && epoch !== FREE ? session : undefined
  }
}

const DONE: Promise<void> = Promise.resolve()
