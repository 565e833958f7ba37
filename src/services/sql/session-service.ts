import type { NewEntry } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { checkFilter, checkId, checkKey, checkNewKey } from '../session/check-key.ts'
import { importedEvents } from '../session/imported-events.ts'
import type {
  AppendOptions,
  Checkpoint,
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
} from '../session/service.ts'
import type { PostOptions } from '../session/waiting-limits.ts'
import { type Append, append, encodeOptions } from './append-rules.ts'
import { createSession, deleteSession } from './create-rules.ts'
import { entriesAfter, sizeOfEncoded } from './entry-encoding.ts'
import { copyItem, postItem, readInbox } from './inbox-rules.ts'
import { claim, claimDeadCopies, createCopy, isHeldAlive, release, renew } from './lease-rules.ts'
import { LogReader } from './log-reader.ts'
import { SqlPins } from './pins.ts'
import { findSession } from './session-lists.ts'
import { type SessionTables, sessionTables, type TableOptions } from './session-tables.ts'
import { SessionWatch } from './session-watch.ts'
import type { SqlDatabase, SqlWork } from './sql.ts'
import { encodeStateDelta } from './state-change.ts'
import { UserSessions } from './user-sessions.ts'
import { encodeInTurn, writeInTurn } from './write-entries.ts'

/** Options of `SqlSessionService`. */
interface SqlSessionOptions extends TableOptions {
  /** Creates ids of sessions and events. */
  readonly newId: () => string
  /** Maximum size of cached logs. */
  readonly cacheBytes: number
}

/** Stores sessions in a SQL database. Every compare-and-set happens in the database, so it holds across processes. */
export class SqlSessionService implements SessionService {
  readonly keepsCheckpoints = true
  /** The hashes of definitions that apps trust. */
  readonly pins: PinService
  readonly #database: SqlDatabase
  readonly #options: SqlSessionOptions
  readonly #tables: SessionTables
  readonly #ofUser: UserSessions
  readonly #logs: LogReader
  readonly #watch: SessionWatch

  constructor(database: SqlDatabase, options: SqlSessionOptions) {
    this.#database = database
    this.#options = options
    this.#tables = sessionTables(database, options)
    this.pins = new SqlPins(database)
    this.#watch = new SessionWatch(database)
    this.#logs = new LogReader(database, this.#tables, options.cacheBytes)
    this.#ofUser = new UserSessions(database, this.#tables, this.#logs.cache)
  }

  /** Creates a session; throws ALREADY_EXISTS. */
  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { now, newId } = this.#options
    const { appName, userId, sessionId = newId(), state, events = [] } = options
    const key = { appName, userId, sessionId }
    checkNewKey(key)
    const changes = state ? encodeStateDelta(state) : []
    const imported = importedEvents(events, newId).map((event) => ({ event }))
    const encoded = await encodeInTurn({ database: this.#database, key }, imported)
    const create = (): ReturnType<typeof createSession> =>
      createSession(this.#tables, { key, changes, encoded, now: now() })
    const { session, updates } = await writeInTurn({ database: this.#database, key }, encoded, create)
    this.#tables.state.take(updates)
    return session
  }

  /** Starts a copy of another session, and claims it; throws ALREADY_EXISTS. */
  async createCopy(options: Parameters<NonNullable<SessionService['createCopy']>>[0]): Promise<Lease> {
    const key = copyKey(options)
    checkNewKey(key)
    const changes = options.state ? encodeStateDelta(options.state) : []
    const { lease, updates } = await this.#database.write(() => {
      this.#database.checkIdentity?.()
      return createCopy(this.#tables, key, changes, this.#options.now())
    })
    this.#tables.state.take(updates)
    return lease
  }

  /** Claims the unfinished copies whose holder died. */
  async claimUnfinishedCopies({ appName }: { appName: string }): Promise<Lease[]> {
    checkId('appName', appName)
    const hasDead = await this.#database.read(() => this.#tables.leases.hasDeadCopies(appName))
    if (!hasDead) return [] // most often: without waiting for other writers
    return await this.#database.write(() => claimDeadCopies(this.#tables, appName))
  }

  /** Returns a session with its state and events. */
  async getSession(options: Parameters<SessionService['getSession']>[0]): Promise<Session | undefined> {
    checkKey(options)
    return await this.#database.read(() => findSession(this.#tables, options))
  }

  /** Lists the sessions of a user, without events. */
  listSessions(user: { appName: string; userId: string }): Promise<Session[]> {
    return this.#ofUser.list(user)
  }

  /** Lists a part of the sessions of a user. */
  listSessionPage(options: Parameters<NonNullable<SessionService['listSessionPage']>>[0]): Promise<Page<Session>> {
    return this.#ofUser.page(options)
  }

  /** Finds a part of the sessions of an app, with their states. */
  async findSessions(filter: SessionFilter & PageOptions): Promise<Page<FoundSession>> {
    checkFilter(filter)
    return await this.#database.read(() => this.#tables.finding.page(filter))
  }

  /** How much a user has stored. */
  usage(options: Parameters<NonNullable<SessionService['usage']>>[0]): Promise<UserUsage> {
    return this.#ofUser.usage(options)
  }

  /** Deletes a session with its state, log, inbox and pending requests. */
  async deleteSession(given: SessionKey): Promise<void> {
    const key = copyKey(given)
    const id = await this.#database.write(() => deleteSession(this.#tables, key))
    if (id !== undefined) this.#logs.cache.forget(id)
  }

  /** Deletes the sessions and the `user:` state of a user, some sessions at a time. */
  deleteUser(user: { appName: string; userId: string }): Promise<void> {
    return this.#ofUser.delete(user)
  }

  /** The `user:` state of a user. */
  userState(user: { appName: string; userId: string }): ReturnType<UserSessions['state']> {
    return this.#ofUser.state(user)
  }

  /** Finds a part of the sessions that retention may delete. */
  findPrunable(filter: PruneFilter & PageOptions): Promise<Page<PrunableSession>> {
    return this.#ofUser.findPrunable(filter)
  }

  /** Claims a session to delete it, unless it is in use. */
  claimIdle(key: SessionKey, conditions: IdleConditions): Promise<Lease | undefined> {
    return this.#ofUser.claimIdle(key, conditions)
  }

  /** Acquires the lease of a session; throws SESSION_BUSY. */
  async claim(given: SessionKey, { takeOver }: ClaimOptions = {}): Promise<Lease> {
    const key = copyKey(given)
    return await this.#database.write(() => {
      this.#database.checkIdentity?.()
      return claim(this.#tables, key, { takeOver })
    })
  }

  /** Extends a lease; throws LEASE_LOST. */
  async renew({ key: given, epoch, seq, crashes }: Lease): Promise<Lease> {
    const key = copyKey(given)
    const lease = { key, epoch }
    this.#tables.state.take(await this.#writeHeld(lease, () => renew(this.#tables, lease)))
    return { key, epoch, seq, crashes, leaseMs: this.#options.leaseMs }
  }

  /** Ends a lease. Deletes an unfinished copy. */
  async release({ key, epoch }: Lease, options?: ReleaseOptions): Promise<void> {
    const lease = { key: copyKey(key), epoch }
    const [tables, watch] = [this.#tables, this.#watch]
    await this.#writeHeld(lease, function* () {
      yield* release(tables, lease, options)
      yield* options?.interrupted ? watch.announce(lease.key) : watch.announceIfWaiting(lease.key)
    })
    watch.notify(lease.key)
  }

  /** Reads the log, or a checkpoint and the entries after it, and the state of a claimed session. */
  read(lease: Lease): Promise<HeldLog> {
    return this.#logs.readHeld(lease)
  }

  /** Reads a part of the log without a lease. */
  readLog(options: Parameters<NonNullable<SessionService['readLog']>>[0]): Promise<LogPage | undefined> {
    return this.#logs.readPage(options)
  }

  /** The latest checkpoint of a log, read without a lease. */
  async readCheckpoint(given: SessionKey): Promise<Omit<Checkpoint, 'entriesBefore'> | undefined> {
    const key = copyKey(given)
    checkKey(key)
    const { sessions, checkpoints } = this.#tables
    return await this.#database.read(function* () {
      const row = yield* sessions.find(key)
      return row && (yield* checkpoints.find(row))
    })
  }

  /** Appends entries to the log and applies their state changes in one transaction. */
  async append(
    { key: given, epoch }: Lease,
    expectedSeq: number,
    entries: readonly NewEntry[],
    options: AppendOptions = {},
  ): Promise<number> {
    const lease = { key: copyKey(given), epoch }
    const now = this.#options.now()
    const changes = encodeOptions(options, now)
    const encoding = encodeInTurn({ database: this.#database, key: lease.key }, entries)
    const encoded = Array.isArray(encoding) ? encoding : await encoding // an await would cost every append
    const work: Append = { lease, expectedSeq, encoded, now, changes }
    const { id, from, added, seq, updates } = await writeInTurn(
      { database: this.#database, key: lease.key },
      encoded,
      () => append(this.#tables, work),
      () => isHeldAlive(this.#tables, lease),
    )
    // after the commit: a rolled back append must not be shown
    if (added.length > 0) this.#logs.cache.extend(id, from, entriesAfter(from, added), sizeOfEncoded(added))
    this.#tables.state.take(updates)
    return seq
  }

  /** Posts an item to the inbox of a session. */
  async post(given: SessionKey, item: InboxItem, options?: PostOptions): Promise<number> {
    const key = copyKey(given)
    const posted = copyItem(item)
    const [tables, watch] = [this.#tables, this.#watch]
    const seq = await this.#database.write(function* () {
      const seq = yield* postItem(tables, key, posted, options)
      yield* watch.announce(key)
      return seq
    })
    watch.notify(key)
    return seq
  }

  /** Calls the listener when a session may have something for a process that waits. */
  watch(listener: (key: SessionKey) => void): () => void {
    return this.#watch.watch(listener)
  }

  /** The items in the inbox. */
  async inbox({ key: given, epoch }: Lease): Promise<PostedItem[]> {
    const lease = { key: copyKey(given), epoch }
    const { items, updates } = await this.#database.read(() => readInbox(this.#tables, lease))
    this.#tables.state.take(updates)
    return items
  }

  /** Lists sessions with inbox items that no holder drains, the longest waiting first. */
  async withInbox({ appName, limit }: { appName: string; limit: number }): Promise<SessionKey[]> {
    checkId('appName', appName)
    return await this.#database.read(() => this.#tables.leases.withInbox(appName, limit))
  }

  /** Lists a part of the sessions that were set aside. */
  async setAside(
    filter: { appName: string; userId?: string | undefined } & PageOptions,
  ): Promise<Page<SetAsideSession>> {
    checkFilter(filter)
    return await this.#database.read(() => this.#tables.leases.setAsidePage(filter))
  }

  /** Counts the sessions of an app by state. */
  async countSessions({ appName }: { appName: string }): Promise<SessionCounts> {
    checkId('appName', appName)
    return await this.#database.read(() => this.#tables.counting.count(appName))
  }

  /** Finds pending requests. */
  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    checkFilter(filter)
    return await this.#database.read(() => this.#tables.pending.find(filter))
  }

  /** Finds a part of the pending requests. */
  async pendingPage(filter: Parameters<NonNullable<SessionService['pendingPage']>>[0]): Promise<Page<PendingRequest>> {
    checkFilter(filter)
    return await this.#database.read(() => this.#tables.pending.page(filter))
  }

  /** Counts pending requests. */
  async pendingSummary(filter: Parameters<SessionService['pending']>[0]): Promise<PendingSummary> {
    checkFilter(filter)
    return await this.#database.read(() => this.#tables.pending.summary(filter))
  }

  /** Finds sessions whose requests have expired. */
  async overdue(filter: { appName: string; now: number; limit: number }): Promise<SessionKey[]> {
    checkId('appName', filter.appName)
    const { pending } = this.#tables
    if (await this.#database.read(() => pending.hasUnknown())) await this.#database.write(() => pending.addExpiry())
    return await this.#database.read(() => pending.overdue(filter))
  }

  /** Lists sessions whose holder died or was interrupted. */
  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    checkId('appName', appName)
    return await this.#database.read(() => this.#tables.leases.interrupted(appName))
  }

  /**
   * Keeps a holder's write waiting while its lease is alive, also longer than other writes wait, so that a locked database does
   * not lose the result of a tool. Reading the lease needs no lock.
   */
  #writeHeld<T>(lease: Pick<Lease, 'key' | 'epoch'>, work: () => SqlWork<T>): Promise<T> {
    return this.#database.write(work, () => isHeldAlive(this.#tables, lease))
  }
}

/** Checks and copies a key: the caller may change the object while the write waits. */
function copyKey(key: SessionKey): SessionKey {
  checkKey(key)
  const { appName, userId, sessionId } = key
  return { appName, userId, sessionId }
}
