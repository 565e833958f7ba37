import type { Logger } from '../dispatch/host.ts'
import type { Entry, Event, NewEntry } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import { checkFilter, checkId, checkKey } from '../session/check-key.ts'
import type {
  AppendOptions,
  HeldLog,
  InboxItem,
  Lease,
  PostedItem,
  Session,
  SessionKey,
  SessionService,
} from '../session/service.ts'
import { leaseLost, sessionBusy, sessionExists, sessionNotFound, staleAppend } from '../session/session-errors.ts'
import { withEventIds } from '../session/storable-entry.ts'
import type { Database } from './database.ts'
import { InboxRows } from './inbox-rows.ts'
import { type Line, toLines } from './line.ts'
import { LogCache, seqOf } from './log-cache.ts'
import { LogRows } from './log-rows.ts'
import { PendingRows, toPendingLines } from './pending-rows.ts'
import { damageReporter } from './report-damage.ts'
import { keyOf, type SessionRow, SessionRows } from './session-rows.ts'
import { StateRows, toChanges } from './state-rows.ts'
import { fromJson, toJson } from './text.ts'

export interface SqliteSessionOptions {
  readonly now: () => number
  readonly monotonicNow: () => number
  readonly newId: () => string
  readonly leaseMs: number
  readonly cacheBytes: number
  readonly logger: Logger
}

/** Sessions in a SQLite file. All that is compared and set is compared and set in the file, for every process on it. */
export class SqliteSessionService implements SessionService {
  readonly #database: Database
  readonly #options: SqliteSessionOptions
  readonly #sessions: SessionRows
  readonly #log: LogRows
  readonly #state: StateRows
  readonly #inbox: InboxRows
  readonly #pending: PendingRows
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
    this.#cache = new LogCache(options.cacheBytes)
  }

  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { now, newId } = this.#options
    const { appName, userId, sessionId = newId(), state, events = [] } = options
    const key = { appName, userId, sessionId }
    checkKey(key)
    const changes = state ? toChanges(state) : []
    const lines = toLines(events.map((event) => ({ event: withEventIds(event, newId) })))
    return await this.#database.write(() => {
      const time = now()
      if (!this.#sessions.insert(key, time)) {
        throw sessionExists(sessionId)
      }
      const row = this.#sessions.find(key) as SessionRow
      this.#state.apply(row, changes)
      this.#sessions.advance(row.id, this.#add(row, lines).length, time)
      return this.#toSession({ ...row, updated_at: time }, this.#log.events(row))
    })
  }

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

  async listSessions(options: { appName: string; userId: string }): Promise<Session[]> {
    checkId('appName', options.appName)
    checkId('userId', options.userId)
    return await this.#database.read(() => this.#sessions.list(options).map((row) => this.#toSession(row, [])))
  }

  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    await this.#database.write(() => {
      const row = this.#sessions.find(key)
      if (!row) return
      this.#state.deleteOwn(row)
      this.#sessions.delete(row.id) // and with it, by reference, its log, inbox and requests
      this.#cache.forget(row.id)
    })
  }

  async claim(key: SessionKey): Promise<Lease> {
    checkKey(key)
    return await this.#database.write(() => {
      this.#database.checkFiles()
      const row = this.#found(key)
      const epoch = this.#sessions.claim(row)
      if (epoch === undefined) throw sessionBusy(key.sessionId)
      return { key: keyOf(row), epoch, seq: row.seq, leaseMs: this.#options.leaseMs }
    })
  }

  async renew(lease: Lease): Promise<Lease> {
    const { epoch, seq } = lease
    const key = copyOf(lease.key)
    const isHeld = await this.#database.write(() => this.#sessions.renew({ key, epoch }), this.#whileAlive(key, epoch))
    if (!isHeld) throw leaseLost(key.sessionId)
    return { key, epoch, seq, leaseMs: this.#options.leaseMs }
  }

  async release({ key: given, epoch }: Lease, options?: { interrupted?: boolean | undefined }): Promise<void> {
    const key = copyOf(given)
    await this.#database.write(
      () => {
        if (options?.interrupted) this.#sessions.interrupt({ key, epoch })
        else this.#sessions.release({ key, epoch })
      },
      this.#whileAlive(key, epoch),
    )
  }

  async read({ key, epoch }: Lease): Promise<HeldLog> {
    checkKey(key)
    return await this.#database.read(() => {
      const row = this.#held(key, epoch)
      const log = this.#cache.open(row.id, row.seq)
      const { entries: added, size } = this.#log.after(row, seqOf(log), row.seq)
      this.#cache.extend(row.id, seqOf(log), added, size)
      return { entries: log.entries, memo: log.memo, state: this.#state.reader(row) }
    })
  }

  async append(
    lease: Lease,
    expectedSeq: number,
    entries: readonly NewEntry[],
    options: AppendOptions = {},
  ): Promise<number> {
    const { epoch } = lease
    const key = copyOf(lease.key)
    const { now } = this.#options
    const lines = toLines(entries)
    const drained = options.drained?.slice()
    const pending = options.pending && toPendingLines(options.pending, now())
    const { row, added, seq } = await this.#database.write(
      () => {
        const row = this.#held(key, epoch)
        if (expectedSeq !== row.seq) return { row, added: [], seq: this.#repeated(row, expectedSeq, lines) }
        const added = this.#add(row, lines)
        const last = row.seq + added.length
        this.#sessions.advance(row.id, last, now())
        if (drained) this.#inbox.remove(row.id, drained)
        if (pending) this.#pending.replace(row.id, pending)
        return { row, added, seq: added.length > 0 ? last : (this.#log.seqOfLast(row.id, lines) ?? last) }
      },
      this.#whileAlive(key, epoch),
    )
    // only what is committed is remembered
    if (added.length > 0) this.#cache.extend(row.id, row.seq, added, sizeOf(lines))
    return seq
  }

  async post(given: SessionKey, item: InboxItem): Promise<number> {
    const key = copyOf(given)
    checkId('The id of an inbox item', item.id)
    const posted = fromJson(toJson(item, 'An item of an inbox'), 'An item of an inbox') as InboxItem // as it is now
    return await this.#database.write(() => {
      const { id, seq } = this.#found(key)
      this.#inbox.post(id, posted.id, toJson({ ...posted, seq }, 'An item of an inbox'))
      return seq
    })
  }

  async drain({ key, epoch }: Lease): Promise<PostedItem[]> {
    checkKey(key)
    return await this.#database.read(() => this.#inbox.items(this.#held(key, epoch)))
  }

  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    checkFilter(filter)
    return await this.#database.read(() => this.#pending.find(filter))
  }

  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    checkId('appName', appName)
    return await this.#database.read(() => this.#sessions.interrupted(appName).map(keyOf))
  }

  /**
   * What a holder writes waits for as long as its lease lives, also longer than `busyTimeoutMs`: what a tool has done is
   * not lost because another process has the file. Reading the lease needs no lock.
   */
  #whileAlive(key: SessionKey, epoch: number): () => boolean {
    return () => {
      const row = this.#sessions.held({ key, epoch })
      return row !== undefined && this.#sessions.isAlive(row)
    }
  }

  /** Adds lines after the last, with the changes of state they bring; gives what was new. */
  #add(row: SessionRow, lines: readonly Line[]): Entry[] {
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

  #repeated(row: SessionRow, expectedSeq: number, lines: readonly Line[]): number {
    const seq = this.#log.seqOfRepeat(row, expectedSeq, lines)
    if (seq !== undefined) return seq
    throw staleAppend(expectedSeq, row.seq)
  }

  #found(key: SessionKey): SessionRow {
    const row = this.#sessions.find(key)
    if (row) return row
    throw sessionNotFound(key.sessionId)
  }

  #held(key: SessionKey, epoch: number): SessionRow {
    const row = this.#sessions.held({ key, epoch })
    if (row) return row
    throw leaseLost(key.sessionId)
  }

  #toSession(row: SessionRow, events: readonly Event[]): Session {
    const { appName, userId, sessionId: id } = keyOf(row)
    return { id, appName, userId, state: this.#state.toJson(row), events, lastUpdateTime: row.updated_at / 1000 }
  }
}

/** Checked, and the same when the write comes after a wait. */
function copyOf(key: SessionKey): SessionKey {
  checkKey(key)
  const { appName, userId, sessionId } = key
  return { appName, userId, sessionId }
}

function sizeOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { body }) => sum + body.length, 0)
}
