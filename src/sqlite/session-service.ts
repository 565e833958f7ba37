import type { JsonObject } from '../base/json.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Entry, Event, NewEntry } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'
import { checkFilter, checkId, checkKey } from '../session/key.ts'
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
import type { Database } from './database.ts'
import { InboxRows } from './inbox-rows.ts'
import { type Line, toLines } from './line.ts'
import { LogCache, seqOf } from './log-cache.ts'
import { LogRows } from './log-rows.ts'
import { PendingRows, toWaitingLines } from './pending-rows.ts'
import { keyOf, type SessionRow, SessionRows } from './session-rows.ts'
import { StateRows, toChanges } from './state-rows.ts'
import { fromJson, toJson } from './text.ts'

export interface SqliteSessionOptions {
  readonly now: () => number
  readonly newId: () => string
  readonly leaseMs: number
  readonly cacheBytes: number
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
    this.#sessions = new SessionRows(database)
    this.#log = new LogRows(database)
    this.#state = new StateRows(database)
    this.#inbox = new InboxRows(database)
    this.#pending = new PendingRows(database)
    this.#cache = new LogCache(options.cacheBytes)
  }

  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { now, newId } = this.#options
    const { appName, userId, sessionId = newId(), state, events = [] } = options
    const key = { appName, userId, sessionId }
    checkKey(key)
    const changes = state ? toChanges(state) : []
    const lines = toLines(events.map((event) => ({ event: { ...event, id: event.id || newId() } })))
    const time = now()
    return this.#database.write(() => {
      if (!this.#sessions.insert(key, time)) {
        throw new ToolwrightError('ALREADY_EXISTS', `Session "${sessionId}" exists already.`)
      }
      const row = this.#sessions.find(key) as SessionRow
      this.#state.apply(row, changes)
      this.#sessions.advance(row.id, this.#add(row, lines).length, time, undefined)
      return this.#toSession({ ...row, updated_at: time }, this.#log.events(row.id))
    })
  }

  async getSession(options: Parameters<SessionService['getSession']>[0]): Promise<Session | undefined> {
    checkKey(options)
    const { numRecentEvents, afterTimestamp } = options.config ?? {}
    return this.#database.read(() => {
      const row = this.#sessions.find(options)
      if (!row) return undefined
      if (afterTimestamp === undefined) return this.#toSession(row, this.#log.events(row.id, numRecentEvents))
      const since = this.#log.events(row.id).filter(({ timestamp }) => timestamp >= afterTimestamp)
      return this.#toSession(row, since.slice(Math.max(0, since.length - (numRecentEvents ?? since.length))))
    })
  }

  async listSessions(options: { appName: string; userId: string }): Promise<Session[]> {
    checkId('appName', options.appName)
    checkId('userId', options.userId)
    return this.#database.read(() => this.#sessions.list(options).map((row) => this.#toSession(row, [])))
  }

  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    this.#database.write(() => {
      const row = this.#sessions.find(key)
      if (!row) return
      this.#state.deleteOwn(row)
      this.#sessions.delete(row.id) // and with it, by reference, its log, inbox and requests
      this.#cache.forget(row.id)
    })
  }

  async claim(key: SessionKey): Promise<Lease> {
    checkKey(key)
    const now = this.#options.now()
    const expiresAt = now + this.#options.leaseMs
    return this.#database.write(() => {
      const row = this.#found(key)
      const epoch = this.#sessions.claim(row, now, expiresAt)
      if (epoch === undefined) throw new ToolwrightError('SESSION_BUSY', `Session "${key.sessionId}" is in use.`)
      return { key: keyOf(row), epoch, seq: row.seq, expiresAt }
    })
  }

  async renew(lease: Lease): Promise<Lease> {
    checkKey(lease.key)
    const expiresAt = this.#options.now() + this.#options.leaseMs
    if (!this.#database.once(() => this.#sessions.renew(lease, expiresAt))) throw lost(lease)
    return { key: { ...lease.key }, epoch: lease.epoch, seq: lease.seq, expiresAt }
  }

  async release(lease: Lease, options?: { interrupted?: boolean | undefined }): Promise<void> {
    checkKey(lease.key)
    const now = this.#options.now()
    this.#database.once(() => {
      if (options?.interrupted) this.#sessions.renew(lease, now)
      else this.#sessions.release(lease)
    })
  }

  async read(lease: Lease, options?: { fromSeq?: number | undefined }): Promise<HeldLog> {
    checkKey(lease.key)
    const fromSeq = Math.max(0, Math.floor(options?.fromSeq ?? 0))
    return this.#database.read(() => {
      const row = this.#held(lease)
      const log = this.#cache.open(row.id, Math.min(fromSeq, row.seq), row.seq)
      const { entries: added, size } = this.#log.after(row.id, seqOf(log), row.seq)
      this.#cache.extend(row.id, seqOf(log), added, size)
      const entries = fromSeq > log.fromSeq ? log.entries.slice(fromSeq - log.fromSeq) : log.entries
      const held = { entries, memo: log.memo, state: this.#state.reader(row) }
      const checkpoint = this.#sessions.checkpoint(row.id)
      if (checkpoint === null) return held
      return { ...held, checkpoint: fromJson(checkpoint, 'The checkpoint of a session') as JsonObject }
    })
  }

  async append(
    lease: Lease,
    expectedSeq: number,
    entries: readonly NewEntry[],
    options: AppendOptions = {},
  ): Promise<number> {
    checkKey(lease.key)
    const now = this.#options.now()
    const lines = toLines(entries)
    const checkpoint = options.checkpoint && toJson(options.checkpoint, 'A checkpoint')
    const pending = options.pending && toWaitingLines(options.pending, now)
    const { row, added, seq } = this.#database.write(() => {
      const row = this.#held(lease)
      if (expectedSeq !== row.seq) return { row, added: [], seq: this.#repeated(row, expectedSeq, lines) }
      const added = this.#add(row, lines)
      const last = row.seq + added.length
      this.#sessions.advance(row.id, last, now, checkpoint)
      if (options.drained) this.#inbox.remove(row.id, options.drained)
      if (pending) this.#pending.replace(row.id, pending)
      return { row, added, seq: added.length > 0 ? last : (this.#log.seqOfLast(row.id, lines) ?? last) }
    })
    // only what is committed is remembered
    if (added.length > 0) this.#cache.extend(row.id, row.seq, added, sizeOf(lines))
    return seq
  }

  async post(key: SessionKey, item: InboxItem): Promise<number> {
    checkKey(key)
    checkId('The id of an inbox item', item.id)
    return this.#database.write(() => {
      const { id, seq } = this.#found(key)
      this.#inbox.post(id, item.id, toJson({ ...item, seq }, 'An item of an inbox'))
      return seq
    })
  }

  async drain(lease: Lease): Promise<PostedItem[]> {
    checkKey(lease.key)
    return this.#database.read(() => this.#inbox.items(this.#held(lease).id))
  }

  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    checkFilter(filter)
    return this.#database.once(() => this.#pending.find(filter))
  }

  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    checkId('appName', appName)
    const now = this.#options.now()
    return this.#database.once(() => this.#sessions.interrupted(appName, now)).map(keyOf)
  }

  /** Adds lines after the last, with the changes of state they bring; gives what was new. */
  #add(row: SessionRow, lines: readonly Line[]): Entry[] {
    const added: Entry[] = []
    for (const line of lines) {
      const seq = row.seq + added.length + 1
      if (!this.#log.insert(row.id, seq, line)) continue
      added.push({ seq, ...line.entry })
      this.#state.apply(row, line.changes)
    }
    return added
  }

  #repeated(row: SessionRow, expectedSeq: number, lines: readonly Line[]): number {
    const seq = this.#log.seqOfRepeat(row.id, expectedSeq, lines)
    if (seq !== undefined) return seq
    throw new ToolwrightError('STALE_APPEND', `Expected sequence ${expectedSeq}, but the log is at ${row.seq}.`)
  }

  #found(key: SessionKey): SessionRow {
    const row = this.#sessions.find(key)
    if (row) return row
    throw new ToolwrightError('NOT_FOUND', `There is no session "${key.sessionId}".`)
  }

  #held(lease: Lease): SessionRow {
    const row = this.#sessions.held(lease)
    if (row) return row
    throw lost(lease)
  }

  #toSession(row: SessionRow, events: readonly Event[]): Session {
    const { appName, userId, sessionId: id } = keyOf(row)
    return { id, appName, userId, state: this.#state.toJson(row), events, lastUpdateTime: row.updated_at / 1000 }
  }
}

function lost({ key }: Lease): ToolwrightError {
  return new ToolwrightError('LEASE_LOST', `The lease on session "${key.sessionId}" is no longer held.`)
}

function sizeOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { body }) => sum + body.length, 0)
}
