import { copyJson } from '../base/json.ts'
import { registerShape } from '../base/object-shapes.ts'
import { systemPorts } from '../base/ports.ts'
import { anything, callback, checkOptions, type OptionRules } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Entry, Event, NewEntry } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import { checkFilter, checkId, checkKey } from './check-key.ts'
import { Inbox } from './in-memory-inbox.ts'
import { InMemoryLog } from './in-memory-log.ts'
import { oldestFirst, toWaiting, type Waiting } from './in-memory-pending.ts'
import { type Scope, ScopedState } from './in-memory-state.ts'
import { checkLeaseMs, DEFAULT_LEASE_MS } from './lease.ts'
import type {
  AppendOptions,
  HeldLog,
  InboxItem,
  Lease,
  PostedItem,
  Session,
  SessionKey,
  SessionService,
} from './service.ts'
import { toStorableEntry, withEventIds } from './storable-entry.ts'

/** What an in-memory session service takes from outside; a test holds it still. */
export interface InMemorySessionOptions {
  /** Milliseconds since the epoch. */
  now?: (() => number) | undefined
  /** How long a lease lives without a renewal. Default 15 s, at least 1 s. */
  leaseMs?: number | undefined
  /** Milliseconds on a clock that is never set, for leases. Default: `performance.now`, or `now` when that is given. */
  monotonicNow?: (() => number) | undefined
  newId?: (() => string) | undefined
}

const RULES: OptionRules<InMemorySessionOptions> = {
  now: callback,
  monotonicNow: callback,
  leaseMs: anything, // checkLeaseMs
  newId: callback,
}

/**
 * Sessions in this process, gone with it.
 *
 * @example
 * const sessions = new InMemorySessionService()
 * const { id } = await sessions.createSession({ appName: 'shop', userId: 'ada' })
 */
export class InMemorySessionService implements SessionService {
  readonly #apps: Map<string, App> = new Map()
  // Epochs are never used twice in this service, so that a lease on a deleted session is not one on its namesake.
  #lastEpoch = 0
  #lastPlace = 0
  readonly #now: () => number
  readonly #monotonicNow: () => number
  readonly #leaseMs: number
  readonly #newId: () => string

  constructor(options: InMemorySessionOptions = {}) {
    checkOptions('InMemorySessionService', options, RULES)
    this.#now = options.now ?? systemPorts.now
    this.#monotonicNow = options.monotonicNow ?? options.now ?? systemPorts.monotonicNow
    this.#leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    checkLeaseMs(this.#leaseMs)
    this.#newId = options.newId ?? systemPorts.newId
  }

  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { appName, userId, sessionId = this.#newId(), state, events } = options
    checkKey({ appName, userId, sessionId })
    const app = this.#apps.get(appName) ?? { state: new Map(), users: new Map() }
    const user = app.users.get(userId) ?? { state: new Map(), sessions: new Map() }
    if (user.sessions.has(sessionId)) {
      throw new ToolwrightError('ALREADY_EXISTS', `Session "${sessionId}" exists already.`)
    }
    // Everything that can throw comes before the first change to what sessions share.
    const initial = state && copyJson(state)
    const imported = events?.map((event) => toStorableEntry({ event: copyJson(withEventIds(event, this.#newId)) }))

    const session = new Stored({ appName, userId, sessionId }, new ScopedState(app.state, user.state), this.#now())
    if (initial) session.state.apply(initial)
    if (imported) session.log.add(imported, session.state)
    user.sessions.set(sessionId, session)
    app.users.set(userId, user)
    this.#apps.set(appName, app)
    return toSession(session, eventsOf(session.log.entries))
  }

  async getSession(options: Parameters<SessionService['getSession']>[0]): Promise<Session | undefined> {
    const session = this.#find(options)
    if (!session) return undefined
    const { numRecentEvents, afterTimestamp } = options.config ?? {}
    let events = eventsOf(session.log.entries)
    if (afterTimestamp !== undefined) events = events.filter((event) => event.timestamp >= afterTimestamp)
    if (numRecentEvents !== undefined) events = events.slice(Math.max(0, events.length - numRecentEvents))
    return toSession(session, events)
  }

  async listSessions({ appName, userId }: { appName: string; userId: string }): Promise<Session[]> {
    checkId('appName', appName)
    checkId('userId', userId)
    const sessions = this.#apps.get(appName)?.users.get(userId)?.sessions.values() ?? []
    return Array.from(sessions, (session) => toSession(session, []))
  }

  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    const user = this.#apps.get(key.appName)?.users.get(key.userId)
    if (!user?.sessions.delete(key.sessionId)) return
    // a Map that is filled and emptied for ever keeps what it held alive from one collection to the next
    if (user.sessions.size === 0) user.sessions = new Map()
  }

  // No async functions on the way of every turn: their frames are most of what a turn would allocate here.
  claim(key: SessionKey): Promise<Lease> {
    try {
      return Promise.resolve(this.#claim(key))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #claim(key: SessionKey): Lease {
    const session = this.#find(key)
    if (!session) throw notFound(key)
    const now = this.#monotonicNow()
    if (session.epoch !== FREE && now < session.expiresAt) {
      throw new ToolwrightError('SESSION_BUSY', `Session "${key.sessionId}" is in use.`)
    }
    session.epoch = ++this.#lastEpoch
    session.expiresAt = now + this.#leaseMs
    return toLease(session, session.log.seq, this.#leaseMs)
  }

  async renew(lease: Lease): Promise<Lease> {
    const session = this.#held(lease)
    session.expiresAt = this.#monotonicNow() + this.#leaseMs
    return toLease(session, lease.seq, this.#leaseMs)
  }

  release(lease: Lease, options?: { interrupted?: boolean | undefined }): Promise<void> {
    const session = this.#holding(lease)
    if (session && options?.interrupted) session.expiresAt = Number.NEGATIVE_INFINITY
    else if (session) session.epoch = FREE
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

  append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): Promise<number> {
    try {
      return Promise.resolve(this.#append(lease, expectedSeq, entries, options))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): number {
    // The epoch fences, not the clock: a holder that is late but that nobody has followed may still write.
    const session = this.#held(lease)
    const { log } = session
    if (expectedSeq !== log.seq) {
      const repeated = log.seqOfRepeat(expectedSeq, entries)
      if (repeated !== undefined) return repeated
      throw new ToolwrightError('STALE_APPEND', `Expected sequence ${expectedSeq}, but the log is at ${log.seq}.`)
    }
    const waiting = options?.pending && toWaiting(options.pending, session.waiting, this.#nextPlace)
    const storable = entries.map(toStorableEntry)
    const seq = log.add(storable, session.state)
    if (options?.drained) session.inbox?.remove(options.drained)
    if (options?.pending) session.waiting = waiting
    session.updatedAt = this.#now()
    return seq
  }

  readonly #nextPlace = (): number => ++this.#lastPlace

  async post(key: SessionKey, item: InboxItem): Promise<number> {
    const session = this.#find(key)
    if (!session) throw notFound(key)
    checkId('The id of an inbox item', item.id)
    session.inbox ??= new Inbox()
    const { seq } = session.log
    session.inbox.post(item, seq)
    return seq
  }

  async drain(lease: Lease): Promise<PostedItem[]> {
    return this.#held(lease).inbox?.items() ?? []
  }

  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    checkFilter(filter)
    const { userId, sessionId } = filter
    const found: Waiting[] = []
    for (const { key, waiting } of this.#sessionsOf(filter.appName)) {
      if (!waiting || (userId !== undefined && userId !== key.userId)) continue
      if (sessionId === undefined || sessionId === key.sessionId) found.push(...waiting)
    }
    return oldestFirst(found)
  }

  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    checkId('appName', appName)
    const now = this.#monotonicNow()
    const found: SessionKey[] = []
    for (const { key, epoch, expiresAt } of this.#sessionsOf(appName)) {
      if (epoch !== FREE && now >= expiresAt) found.push({ ...key })
    }
    return found
  }

  *#sessionsOf(appName: string): Iterable<Stored> {
    for (const { sessions } of this.#apps.get(appName)?.users.values() ?? []) yield* sessions.values()
  }

  #find(key: SessionKey): Stored | undefined {
    checkKey(key)
    return this.#apps.get(key.appName)?.users.get(key.userId)?.sessions.get(key.sessionId)
  }

  #held(lease: Lease): Stored {
    const session = this.#holding(lease)
    if (session) return session
    throw new ToolwrightError('LEASE_LOST', `The lease on session "${lease.key.sessionId}" is no longer held.`)
  }

  #holding({ epoch, key }: Lease): Stored | undefined {
    const session = this.#apps.get(key.appName)?.users.get(key.userId)?.sessions.get(key.sessionId)
    return session && session.epoch === epoch && epoch !== FREE ? session : undefined
  }
}

interface App {
  readonly state: Scope
  readonly users: Map<string, { readonly state: Scope; sessions: Map<string, Stored> }>
}

/** The epoch of a session nobody holds; claims start above it. */
const FREE = 0

class Stored {
  readonly key: SessionKey
  readonly state: ScopedState
  readonly log: InMemoryLog = new InMemoryLog()
  readonly memo: object = {}
  updatedAt: number
  epoch: number = FREE
  /** Monotonic milliseconds. No small number ever, so that the shape of a session is the same from the start. */
  expiresAt: number = Number.NEGATIVE_INFINITY
  inbox: Inbox | undefined
  waiting: readonly Waiting[] | undefined

  constructor(key: SessionKey, state: ScopedState, now: number) {
    this.key = key
    this.state = state
    this.updatedAt = now
  }
}

function toSession({ key, state, updatedAt }: Stored, events: readonly Event[]): Session {
  const { appName, userId, sessionId: id } = key
  return { id, appName, userId, state: state.toJson(), events: copyJson(events), lastUpdateTime: updatedAt / 1000 }
}

function eventsOf(entries: readonly Entry[]): Event[] {
  const events: Event[] = []
  for (const { event } of entries) if (event) events.push(event)
  return events
}

function toLease({ key, epoch }: Stored, seq: number, leaseMs: number): Lease {
  return { key: { ...key }, epoch, seq, leaseMs }
}

function notFound(key: SessionKey): ToolwrightError {
  return new ToolwrightError('NOT_FOUND', `There is no session "${key.sessionId}".`)
}

const DONE: Promise<void> = Promise.resolve()

registerShape(() => new Stored({ appName: '', userId: '', sessionId: '' }, {} as ScopedState, Number.NEGATIVE_INFINITY))
