import type { Entry } from '../../core/event/event.ts'
import { checkKey } from '../session/check-key.ts'
import { readLogStart } from '../session/page.ts'
import type { Checkpoint, HeldLog, LogPage, SessionService, StateReader } from '../session/service.ts'
import { versionsOf } from './append-rules.ts'
import type { StoredCheckpoint } from './checkpoint-rows.ts'
import { type CachedLog, LogCache, seqOf } from './log-cache.ts'
import { missingEntry } from './log-pages.ts'
import { MAX_PIECE_BYTES, readInTurn } from './read-in-turn.ts'
import { refusedLease } from './refused-lease.ts'
import type { SessionRow } from './session-row.ts'
import type { HeldLease } from './session-rows.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlDatabase, SqlWork } from './sql.ts'
import type { StateUpdate } from './state-copy.ts'

/** Where reading a log starts: after what this process has cached, or after a checkpoint that is later. */
type LogStart =
  | { readonly type: 'cached'; readonly from: number; readonly known: CachedLog }
  | { readonly type: 'checkpoint'; readonly from: number; readonly checkpoint: StoredCheckpoint }

/** What was read of a log so far. */
interface Reading {
  start: LogStart | undefined
  readonly entries: Entry[]
  size: number
}

/** A log that was read to its end, and its state. */
interface ReadToEnd {
  readonly row: SessionRow
  readonly reader: StateReader
  readonly updates: readonly StateUpdate[]
}

/** Reads logs. Long ones are read in pieces, so that other work goes on meanwhile. */
export class LogReader {
  readonly #database: SqlDatabase
  readonly #tables: SessionTables
  /** The logs of recently used sessions. */
  readonly cache: LogCache

  constructor(database: SqlDatabase, tables: SessionTables, cacheBytes: number) {
    this.#database = database
    this.#tables = tables
    this.cache = new LogCache(cacheBytes)
  }

  /** Reads the log of a claimed session, or what follows its checkpoint, and its state. */
  async readHeld({ key, epoch }: HeldLease): Promise<HeldLog> {
    checkKey(key)
    const lease = { key: { ...key }, epoch }
    const reading: Reading = { start: undefined, entries: [], size: 0 }
    const read = await readInTurn(this.#database, key, (isTurn) => this.#readPiece(lease, reading, isTurn))
    this.#tables.state.take(read.updates)
    return { ...this.#logOf(read.row, lease, reading), state: read.reader }
  }

  /** Reads a part of the log without a lease. */
  async readPage(options: Parameters<NonNullable<SessionService['readLog']>>[0]): Promise<LogPage | undefined> {
    const { limit, maxBytes } = options
    checkKey(options)
    const start = readLogStart(options)
    const { sessions, pages } = this.#tables
    const { page } = await readInTurn(this.#database, options, function* (isTurn): SqlWork<FoundPage | undefined> {
      const row = yield* sessions.find(options)
      if (!row) return { page: undefined }
      if (!isTurn && limit !== 0 && start < row.seq && (yield* pages.isLong(row.id, start))) return undefined
      const { entries } = yield* pages.page(row, start, { limit, maxBytes })
      return { page: { entries, lastSeq: row.seq } }
    })
    return page
  }

  /** Reads the next piece of a log. Undefined: there is more. */
  *#readPiece(lease: HeldLease, reading: Reading, isTurn: boolean): SqlWork<ReadToEnd | undefined> {
    const { pages, state } = this.#tables
    const row = yield* this.#findHeldOrThrow(lease)
    if (reading.entries.length === 0) reading.start = yield* this.#startOf(row)
    const { from } = reading.start as LogStart
    const next = from + reading.entries.length
    const isShort = next >= row.seq || (!isTurn && !(yield* pages.isLong(row.id, next)))
    if (!isShort && !isTurn) return undefined
    const piece = yield* pages.piece(row, next, isShort ? undefined : MAX_PIECE_BYTES)
    for (const entry of piece.entries) reading.entries.push(entry)
    reading.size += piece.size
    if (from + reading.entries.length < row.seq) return undefined
    const reader = state.reader(row)
    return { row, reader, updates: yield* state.refresh(row, versionsOf(row, row.seq)) }
  }

  *#startOf(row: SessionRow): SqlWork<LogStart> {
    const known = this.cache.open(row.id, row.seq)
    const from = seqOf(known)
    const checkpoint = from < row.seq ? yield* this.#tables.checkpoints.find(row) : undefined
    if (checkpoint && checkpoint.seq > from) return { type: 'checkpoint', from: checkpoint.seq, checkpoint }
    return { type: 'cached', from, known }
  }

  #logOf(row: SessionRow, lease: HeldLease, { start, entries, size }: Reading): Omit<HeldLog, 'state'> {
    if (start?.type === 'checkpoint') return { entries, checkpoint: this.#toCheckpoint(lease, start.checkpoint) }
    const { known, from } = start as LogStart & { type: 'cached' }
    const cached = this.cache.complete(row, { known, from, added: entries, size })
    return { entries: cached.entries, memo: cached.memo }
  }

  #toCheckpoint(lease: HeldLease, { seq, state }: StoredCheckpoint): Checkpoint {
    return { seq, state, entriesBefore: ({ fromSeq = 0 } = {}) => this.#readBefore(lease, fromSeq, seq) }
  }

  /** Reads the entries after `fromSeq` up to `lastSeq`. */
  async #readBefore(lease: HeldLease, fromSeq: number, lastSeq: number): Promise<readonly Entry[]> {
    const entries: Entry[] = []
    const { pages } = this.#tables
    const findHeld = (): SqlWork<SessionRow> => this.#findHeldOrThrow(lease)
    await readInTurn(this.#database, lease.key, function* (isTurn): SqlWork<object | undefined> {
      const row = yield* findHeld()
      const next = fromSeq + entries.length
      if (next >= lastSeq) return entries
      if (!isTurn && (yield* pages.isLong(row.id, next))) return undefined
      const piece = yield* pages.page(row, next, { limit: lastSeq - next, maxBytes: MAX_PIECE_BYTES })
      if (piece.entries.length === 0) throw missingEntry(row, next + 1)
      for (const entry of piece.entries) entries.push(entry)
      return fromSeq + entries.length < lastSeq ? undefined : entries
    })
    return entries
  }

  *#findHeldOrThrow(lease: HeldLease): SqlWork<SessionRow> {
    const row = yield* this.#tables.sessions.findHeld(lease)
    if (row) return row
    throw yield* refusedLease(this.#tables, lease.key)
  }
}

interface FoundPage {
  readonly page: LogPage | undefined
}
