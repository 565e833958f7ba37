import type { Entry, Event, NewEntry } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import { checkFilter, checkId, checkKey } from '../../services/session/check-key.ts'
import { checkPin } from '../../services/session/check-pin.ts'
import { importedEvents } from '../../services/session/imported-events.ts'
import { readLogStart, readPagePosition, takePage } from '../../services/session/page.ts'
import type {
  AppendOptions,
  HeldLog,
  InboxItem,
  Lease,
  LogPage,
  Page,
  PendingSummary,
  PostedItem,
  Session,
  SessionKey,
  SessionService,
  UserUsage,
} from '../../services/session/service.ts'
import {
  leaseLost,
  sessionBusy,
  sessionExists,
  sessionNotFound,
  staleAppend,
} from '../../services/session/session-errors.ts'
import type { Database } from './database.ts'
import { areLarge, type EncodedEntry, encodeEntries, sizeOfEncoded } from './entry-encoding.ts'
import { fromJson, toJson, toText } from './escaped-text.ts'
import { InboxRows } from './inbox-rows.ts'
import { type CachedLog, LogCache, seqOf } from './log-cache.ts'
import { LogRows } from './log-rows.ts'
import { encodeChanges, PendingRows } from './pending-rows.ts'
import { PinRows } from './pin-rows.ts'
import { damageReporter } from './report-skipped-rows.ts'
import { keyOf, type SessionRow, SessionRows } from './session-rows.ts'
import { encodeStateDelta, StateRows } from './state-rows.ts'

/** Options of `SqliteSessionService`; `SqliteOptions` describes them. */
interface SqliteSessionOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds since boot. */
  readonly monotonicNow: () => number
  /** Creates ids of sessions and events. */
  readonly newId: () => string
  /** Length of a lease. */
  readonly leaseMs: number
  /** Maximum size of cached logs. */
  readonly cacheBytes: number
  /** Receives reports of damaged rows. */
  readonly logger: Logger
}

/** How much of a log is read, or written without waiting for the turn of the user, at a time. */
const MAX_PIECE_BYTES = 1_000_000

/** Stores sessions in a SQLite file. Every compare-and-set happens in the file, so it holds across processes. */
export class SqliteSessionService implements SessionService {
  readonly #database: Database
  readonly #options: SqliteSessionOptions
  readonly #sessions: SessionRows
  readonly #log: LogRows
  readonly #state: StateRows
  readonly #inbox: InboxRows
  readonly #pending: PendingRows
  readonly #pins: PinRows
  readonly #cache: LogCache

  constructor(database: Database, options: SqliteSessionOptions) {
    this.#database = database
    this.#options = options
    this.#sessions = new SessionRows(database, options)
    this.#log = new LogRows(database)
    this.#state = new StateRows(database)
    const reportDamage = damageReporter(options.logger)
    this.#inbox = new InboxRows(database, reportDamage)
    this.#pending = new PendingRows(database, reportDamage)
    this.#pins = new PinRows(database)
    this.#cache = new LogCache(options.cacheBytes)
  }

  /** The absolute path of the file, or `:memory:`. */
  get file(): string {
    return this.#database.file
  }

  /** Creates a session; throws ALREADY_EXISTS. */
  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { now, newId } = this.#options
    const { appName, userId, sessionId = newId(), state, events = [] } = options
    const key = { appName, userId, sessionId }
    checkKey(key)
    const changes = state ? encodeStateDelta(state) : []
    const imported = importedEvents(events, newId).map((event) => ({ event }))
    const lines = await this.#encode(key, imported)
    return await this.#writeLines(key, lines, () => {
      const time = now()
      if (this.#sessions.findCopy(key) || !this.#sessions.insert(key, time)) throw sessionExists(sessionId)
      const row = this.#sessions.find(key) as SessionRow
      this.#state.apply(row, changes)
      this.#sessions.advance(row.id, this.#insertEntries(row, lines).length, time)
      return this.#toSession({ ...row, updated_at: time }, this.#log.events(row))
    })
  }

  /** Starts a copy of another session, and claims it; throws ALREADY_EXISTS. */
  async createCopy(options: Parameters<NonNullable<SessionService['createCopy']>>[0]): Promise<Lease> {
    const key = copyKey(options)
    const changes = options.state ? encodeStateDelta(options.state) : []
    return await this.#database.write(() => {
      this.#database.checkFiles()
      const { now } = this.#options
      if (this.#sessions.find(key) || !this.#sessions.insertCopy(key, now())) throw sessionExists(key.sessionId)
      const row = this.#sessions.findCopy(key) as SessionRow
      this.#state.apply(row, changes)
      return this.#lease(row) as Lease
    })
  }

  /** Claims the unfinished copies whose holder died. */
  async claimUnfinishedCopies({ appName }: { appName: string }): Promise<Lease[]> {
    checkId('appName', appName)
    const dead = await this.#database.read(() => this.#sessions.deadCopies(appName))
    if (dead.length === 0) return [] // most often: without waiting for other writers
    return await this.#database.write(() => this.#sessions.deadCopies(appName).flatMap((row) => this.#lease(row) ?? []))
  }

  /** Returns a session with its state and events. */
  async getSession(options: Parameters<SessionService['getSession']>[0]): Promise<Session | undefined> {
    checkKey(options)
    const { numRecentEvents, afterTimestamp } = options.config ?? {}
    return await this.#database.read(() => {
      const row = this.#sessions.find(options)
      if (!row) return undefined
      if (afterTimestamp === undefined) return this.#toSession(row, this.#log.events(row, numRecentEvents))
      const since = this.#log.events(row).filter(({ timestamp }) => timestamp >= afterTimestamp)
      return this.#toSession(row, since.slice(Math.max(0, since.length - (numRecentEvents ?? since.length))))
    })
  }

  /** Lists the sessions of a user, without events. */
  async listSessions(options: { appName: string; userId: string }): Promise<Session[]> {
    checkId('appName', options.appName)
    checkId('userId', options.userId)
    return await this.#database.read(() => this.#sessions.list(options).map((row) => this.#toSession(row, [])))
  }

  /** Lists a part of the sessions of a user. State of other sessions is not read. */
  async listSessionPage(
    options: Parameters<NonNullable<SessionService['listSessionPage']>>[0],
  ): Promise<Page<Session>> {
    const { newestFirst = false, limit } = options
    checkFilter({ appName: options.appName, userId: options.userId })
    const after = readPagePosition(options)
    return await this.#database.read(() => {
      const rows = this.#sessions.page(options, { after, limit: limit + 1, newestFirst }) // one more: is there a next page?
      return takePage(rows, options, (row) => {
        const { state, bytes } = this.#state.read(row)
        return { item: toSession(row, state, []), position: row.id, bytes }
      })
    })
  }

  /** How much a user has stored. */
  async usage(options: Parameters<NonNullable<SessionService['usage']>>[0]): Promise<UserUsage> {
    const { appName, userId, sessionId, without = [] } = options
    checkFilter({ appName, userId, sessionId })
    const owner = { app: toText(appName), user: toText(userId) }
    return await this.#database.read(() => {
      const row = sessionId === undefined ? undefined : this.#sessions.find({ appName, userId, sessionId })
      return {
        sessions: this.#sessions.count(options),
        userState: this.#state.size({ ...owner, id: 0 }, without),
        sessionState: row ? this.#state.size(row, without) : { keys: 0, bytes: 0 },
      }
    })
  }

  /** Deletes a session with its state, log, inbox and pending requests. */
  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    await this.#database.write(() => {
      const row = this.#sessions.find(key)
      if (row) this.#delete(row)
    })
  }

  #delete(row: SessionRow): void {
    this.#state.deleteSessionState(row)
    this.#sessions.delete(row.id) // foreign keys delete its log, inbox and requests
    this.#cache.forget(row.id)
  }

  /** Acquires the lease of a session; throws SESSION_BUSY. */
  async claim(key: SessionKey): Promise<Lease> {
    checkKey(key)
    return await this.#database.write(() => {
      this.#database.checkFiles()
      const lease = this.#lease(this.#findOrThrow(key))
      if (!lease) throw sessionBusy(key.sessionId)
      return lease
    })
  }

  #lease(row: SessionRow): Lease | undefined {
    const epoch = this.#sessions.claim(row)
    return epoch === undefined ? undefined : { key: keyOf(row), epoch, seq: row.seq, leaseMs: this.#options.leaseMs }
  }

  /** Extends a lease; throws LEASE_LOST. */
  async renew(lease: Lease): Promise<Lease> {
    const { epoch, seq } = lease
    const key = copyKey(lease.key)
    const isHeld = await this.#database.write(
      () => this.#sessions.renew({ key, epoch }),
      this.#whileLeaseAlive(key, epoch),
    )
    if (!isHeld) throw leaseLost(key.sessionId)
    return { key, epoch, seq, leaseMs: this.#options.leaseMs }
  }

  /** Ends a lease. Deletes an unfinished copy. */
  async release({ key: given, epoch }: Lease, options?: { interrupted?: boolean | undefined }): Promise<void> {
    const key = copyKey(given)
    await this.#database.write(
      () => {
        const lease = { key, epoch }
        if (options?.interrupted ? this.#sessions.interrupt(lease) : this.#sessions.release(lease)) return
        const copy = this.#sessions.findHeldCopy(lease)
        if (copy) this.#delete(copy)
      },
      this.#whileLeaseAlive(key, epoch),
    )
  }

  /** Reads the log and the state of a claimed session. A long log is read in pieces, so that other work goes on meanwhile. */
  async read({ key, epoch }: Lease): Promise<HeldLog> {
    checkKey(key)
    const added: Entry[] = []
    let known: CachedLog | undefined
    let from = 0
    let size = 0
    return await this.#database.readInTurn(key, (isTurn) => {
      const row = this.#findHeldOrThrow(key, epoch)
      known ??= this.#cache.open(row.id, row.seq)
      if (added.length === 0) from = seqOf(known)
      if (!isTurn && from < row.seq && this.#log.isLong(row.id, from)) return undefined
      const piece = this.#log.piece(row, from + added.length, MAX_PIECE_BYTES)
      for (const entry of piece.entries) added.push(entry)
      size += piece.size
      if (from + added.length < row.seq) return undefined
      const { entries, memo } = this.#cache.complete(row, { known, from, added, size })
      return { entries, memo, state: this.#state.reader(row) }
    })
  }

  /** Reads a part of the log without a lease. */
  async readLog(options: Parameters<NonNullable<SessionService['readLog']>>[0]): Promise<LogPage | undefined> {
    const { limit, maxBytes } = options
    checkKey(options)
    const start = readLogStart(options)
    const { page } = await this.#database.readInTurn(options, (isTurn) => {
      const row = this.#sessions.find(options)
      if (!row) return { page: undefined }
      if (!isTurn && limit !== 0 && start < row.seq && this.#log.isLong(row.id, start)) return undefined
      const { entries } = this.#log.page(row, start, { limit, maxBytes })
      return { page: { entries, lastSeq: row.seq } }
    })
    return page
  }

  /** Appends entries to the log and applies their state changes in one transaction. */
  async append(
    lease: Lease,
    expectedSeq: number,
    entries: readonly NewEntry[],
    options: AppendOptions = {},
  ): Promise<number> {
    const { epoch } = lease
    const key = copyKey(lease.key)
    const { now } = this.#options
    const drained = options.drained?.slice()
    const pending = options.pending && encodeChanges(options.pending, now())
    const encoded = this.#encode(key, entries)
    const lines = Array.isArray(encoded) ? encoded : await encoded // an await would cost every append
    const { row, added, seq } = await this.#writeLines(
      key,
      lines,
      () => {
        const row = this.#findHeldOrThrow(key, epoch)
        if (options.completesCopy) this.#completeCopy({ key, epoch })
        if (expectedSeq !== row.seq) return { row, added: [], seq: this.#findRepeat(row, expectedSeq, lines) }
        const added = this.#insertEntries(row, lines)
        const last = row.seq + added.length
        this.#sessions.advance(row.id, last, now())
        if (drained) this.#inbox.remove(row.id, drained)
        if (pending) this.#pending.change(row.id, pending)
        return { row, added, seq: added.length > 0 ? last : (this.#log.seqOfLast(row.id, lines) ?? last) }
      },
      this.#whileLeaseAlive(key, epoch),
    )
    // after the commit: a rolled back append must not be cached
    if (added.length > 0) this.#cache.extend(row.id, row.seq, added, sizeOfEncoded(lines))
    return seq
  }

  /** Makes an unfinished copy a session, in the transaction of its last append. */
  #completeCopy(lease: Pick<Lease, 'key' | 'epoch'>): void {
    const copy = this.#sessions.findHeldCopy(lease)
    // a process of an earlier version may have created a session with this key, because it does not see the copy
    if (copy && !this.#sessions.completeCopy(copy)) throw sessionExists(lease.key.sessionId)
  }

  /** Posts an item to the inbox of a session. */
  async post(given: SessionKey, item: InboxItem): Promise<number> {
    const key = copyKey(given)
    checkId('The id of an inbox item', item.id)
    const posted = fromJson(toJson(item, 'An inbox item'), 'An inbox item') as InboxItem // a copy: the caller may change the item while the write waits
    return await this.#database.write(() => {
      const { id, seq } = this.#findOrThrow(key)
      this.#inbox.post(id, posted.id, toJson({ ...posted, seq }, 'An inbox item'))
      return seq
    })
  }

  /** The items in the inbox. */
  async inbox({ key, epoch }: Lease): Promise<PostedItem[]> {
    checkKey(key)
    return await this.#database.read(() => this.#inbox.items(this.#findHeldOrThrow(key, epoch)))
  }

  /** Finds pending requests. */
  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    checkFilter(filter)
    return await this.#database.read(() => this.#pending.find(filter))
  }

  /** Finds a part of the pending requests. */
  async pendingPage(filter: Parameters<NonNullable<SessionService['pendingPage']>>[0]): Promise<Page<PendingRequest>> {
    checkFilter(filter)
    return await this.#database.read(() => this.#pending.page(filter))
  }

  /** Counts pending requests. */
  async pendingSummary(filter: Parameters<SessionService['pending']>[0]): Promise<PendingSummary> {
    checkFilter(filter)
    return await this.#database.read(() => this.#pending.summary(filter))
  }

  /** Lists sessions whose holder died or was interrupted. */
  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    checkId('appName', appName)
    return await this.#database.read(() => this.#sessions.interrupted(appName).map(keyOf))
  }

  /** The pin of an app under this name. */
  async getPin({ appName }: { appName: string }, name: string): Promise<string | undefined> {
    checkPin(appName, name)
    return await this.#database.read(() => this.#pins.find(appName, name))
  }

  /** Stores a pin, if the stored pin is the expected one. */
  async setPin(
    { appName }: { appName: string },
    name: string,
    hash: string,
    { expected }: { expected?: string | null | undefined } = {},
  ): Promise<boolean> {
    checkPin(appName, name, hash)
    return await this.#database.write(() => {
      if (expected !== undefined && (this.#pins.find(appName, name) ?? null) !== expected) return false
      this.#pins.save(appName, name, hash)
      return true
    })
  }

  /**
   * Keeps a holder's write waiting while its lease is alive, also longer than `busyTimeoutMs`, so that a locked file does
   * not lose the result of a tool. Reading the lease needs no lock.
   */
  #whileLeaseAlive(key: SessionKey, epoch: number): () => boolean {
    return () => {
      const row = this.#sessions.findHeld({ key, epoch })
      return row !== undefined && this.#sessions.isAlive(row)
    }
  }

  /** Encodes entries. Large ones wait for the turn of the user. */
  #encode(key: SessionKey, entries: readonly NewEntry[]): EncodedEntry[] | Promise<EncodedEntry[]> {
    if (!areLarge(entries)) return encodeEntries(entries)
    return this.#database.inTurn(key, () => encodeEntries(entries))
  }

  /** Runs `work`, which inserts these lines, in a write transaction. Large ones wait for the turn of the user. */
  #writeLines<T>(
    key: SessionKey,
    lines: readonly EncodedEntry[],
    work: () => T,
    mayWaitLonger?: () => boolean,
  ): Promise<T> {
    const write = (): Promise<T> => this.#database.write(work, mayWaitLonger)
    return sizeOfEncoded(lines) > MAX_PIECE_BYTES ? this.#database.inTurn(key, write) : write()
  }

  /** Inserts entries after the last one and applies their state changes. Returns the entries that are new. */
  #insertEntries(row: SessionRow, lines: readonly EncodedEntry[]): Entry[] {
    const added: Entry[] = []
    for (const line of lines) {
      const seq = row.seq + added.length + 1
      if (!this.#log.insert(row.id, seq, line)) {
        this.#log.checkRepeat(row, seq, line)
        continue
      }
      added.push({ seq, ...line.entry })
      this.#state.apply(row, line.changes)
    }
    return added
  }

  #findRepeat(row: SessionRow, expectedSeq: number, lines: readonly EncodedEntry[]): number {
    const seq = this.#log.seqOfRepeat(row, expectedSeq, lines)
    if (seq !== undefined) return seq
    throw staleAppend(expectedSeq, row.seq)
  }

  #findOrThrow(key: SessionKey): SessionRow {
    const row = this.#sessions.find(key)
    if (row) return row
    throw sessionNotFound(key.sessionId)
  }

  #findHeldOrThrow(key: SessionKey, epoch: number): SessionRow {
    const row = this.#sessions.findHeld({ key, epoch })
    if (row) return row
    throw leaseLost(key.sessionId)
  }

  #toSession(row: SessionRow, events: readonly Event[]): Session {
    return toSession(row, this.#state.read(row).state, events)
  }
}

function toSession(row: SessionRow, state: Session['state'], events: readonly Event[]): Session {
  const { appName, userId, sessionId: id } = keyOf(row)
  return { id, appName, userId, state, events, lastUpdateTime: row.updated_at / 1000 }
}

/** Checks and copies a key: the caller may change the object while the write waits. */
function copyKey(key: SessionKey): SessionKey {
  checkKey(key)
  const { appName, userId, sessionId } = key
  return { appName, userId, sessionId }
}
