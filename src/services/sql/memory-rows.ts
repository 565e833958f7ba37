// The rules of memory: what is remembered of the sessions of a user, and the index of its words.
import { isRecord } from '../../core/base/json.ts'
import type { Content } from '../../core/content/content.ts'
import type { MemoryEntry } from '../memory/service.ts'
import { toText, tryFromJson } from './escaped-text.ts'
import type { MemoryIndex } from './memory-index.ts'
import type { ReportDamage } from './report-skipped-rows.ts'
import { changesOf, command, query, rowOf, rowsOf, type SqlRow, type SqlWork } from './sql.ts'
import type { UserOwner } from './user-rules.ts'

/** A message to remember. */
export interface EncodedMemory {
  /** The message as JSON. */
  readonly body: string
  /** Its encoded words, separated by spaces. */
  readonly words: string
  /** How many words it has. */
  readonly length: number
}

/** A message that has words of a query. */
export interface FoundMemory {
  /** Row id: later messages have larger ones. */
  readonly id: number
  /** The message. */
  readonly entry: MemoryEntry
  /** Its encoded words. */
  readonly words: readonly string[]
}

/** A row of the user: the owner of messages in the index. */
interface UserRow {
  readonly id: number
}

const OF_SESSION = 'owner = ? AND session = ?'
const FIND_USER = query('SELECT id FROM toolwright_memory_users WHERE app = ? AND "user" = ?')
const ADD_USER = query(
  `INSERT INTO toolwright_memory_users (app, "user") VALUES (?, ?)
   ON CONFLICT (app, "user") DO UPDATE SET app = excluded.app RETURNING id`,
)
const LOCK_USER = query('UPDATE toolwright_memory_users SET app = app WHERE app = ? AND "user" = ? RETURNING id')
const DELETE_USER = command('DELETE FROM toolwright_memory_users WHERE id = ?')
const BODIES = query(`SELECT id, body FROM toolwright_memories WHERE ${OF_SESSION} ORDER BY id`)
const INSERT = query('INSERT INTO toolwright_memories (owner, session, body, length) VALUES (?, ?, ?, ?) RETURNING id')
const INDEX = command('INSERT INTO toolwright_memory_index (rowid, owner, words) VALUES (?, ?, ?)')
const DELETE = command('DELETE FROM toolwright_memories WHERE id = ?')
const UNINDEX = command('DELETE FROM toolwright_memory_index WHERE rowid = ?')
const SOME_OF_USER = query('SELECT id FROM toolwright_memories WHERE owner = ? ORDER BY id LIMIT ?')
const TOTALS = query(
  'SELECT count(*) AS count, coalesce(sum(length), 0) AS length FROM toolwright_memories WHERE owner = ?',
)
const ROW = query(
  `SELECT memories.id AS id, session, body, words FROM toolwright_memories AS memories
   JOIN toolwright_memory_index AS words ON words.rowid = memories.id WHERE memories.id = ?`,
)
const PAGE = query('SELECT id, session, body FROM toolwright_memories WHERE owner = ? AND id > ? ORDER BY id LIMIT ?')

/** The remembered messages of all users. */
export class MemoryRows {
  readonly #index: MemoryIndex
  readonly #reportDamage: ReportDamage

  constructor(index: MemoryIndex, reportDamage: ReportDamage) {
    this.#index = index
    this.#reportDamage = reportDamage
  }

  /** Finds the owner of messages; undefined if the user has none. */
  *findUser({ appName, userId }: UserOwner): SqlWork<number | undefined> {
    return ((yield* rowOf(FIND_USER, toText(appName), toText(userId))) as unknown as UserRow | undefined)?.id
  }

  /** Finds the owner of messages and locks it, so that a deletion waits for another process that adds messages. */
  *lockUser({ appName, userId }: UserOwner): SqlWork<number | undefined> {
    return ((yield* rowOf(LOCK_USER, toText(appName), toText(userId))) as unknown as UserRow | undefined)?.id
  }

  /** Finds or makes the owner of messages, and locks it: two processes may add a session at the same time. */
  *addUser({ appName, userId }: UserOwner): SqlWork<number> {
    return Number((yield* rowOf(ADD_USER, toText(appName), toText(userId)))?.id)
  }

  /** The stored messages of a session as JSON. */
  *bodies(owner: number, sessionId: string): SqlWork<{ readonly id: number; readonly body: string }[]> {
    const rows = yield* rowsOf(BODIES, owner, toText(sessionId))
    return rows.map(({ id, body }) => ({ id: Number(id), body: String(body) }))
  }

  /** Adds messages of a session. */
  *add(owner: number, sessionId: string, memories: readonly EncodedMemory[]): SqlWork<void> {
    for (const { body, words, length } of memories) {
      const id = Number((yield* rowOf(INSERT, owner, toText(sessionId), body, length))?.id)
      yield* changesOf(INDEX, id, ownerWord(owner), words)
    }
  }

  /** Removes messages, with their words in the index. */
  *remove(ids: readonly number[]): SqlWork<void> {
    for (const id of ids) {
      yield* changesOf(UNINDEX, id)
      yield* changesOf(DELETE, id)
    }
  }

  /** Removes some messages of a user, and then the user. Returns whether there may be more. */
  *removeSome(owner: number, limit: number): SqlWork<boolean> {
    const ids = (yield* rowsOf(SOME_OF_USER, owner, limit)).map(({ id }) => Number(id))
    yield* this.remove(ids)
    if (ids.length === limit) return true
    yield* changesOf(DELETE_USER, owner)
    return false
  }

  /** How many messages a user has, and how many words. */
  *totals(owner: number): SqlWork<{ readonly count: number; readonly length: number }> {
    const row = yield* rowOf(TOTALS, owner)
    return { count: Number(row?.count), length: Number(row?.length) }
  }

  /** Finds messages that have at least one of these words: those that the database ranks best. A damaged one is reported. */
  *find(owner: number, words: readonly string[], limit: number): SqlWork<FoundMemory[]> {
    const found: FoundMemory[] = []
    for (const { id } of yield* rowsOf(this.#index.find, this.#index.match(ownerWord(owner), words), limit)) {
      const row = yield* rowOf(ROW, Number(id))
      if (!row) this.#reportDamage(`Memory ${Number(id)}`)
      const entry = row && this.#decode(row)
      if (entry) found.push({ id: Number(id), entry, words: String(row.words).split(' ') })
    }
    return found
  }

  /** Counts the messages that have a word. */
  *count(owner: number, word: string): SqlWork<number> {
    return Number((yield* rowOf(this.#index.count, this.#index.match(ownerWord(owner), [word])))?.count)
  }

  /** At most `limit` messages after a row. A damaged one is reported and has no entry. */
  *page(
    owner: number,
    after: number,
    limit: number,
  ): SqlWork<{ readonly id: number; readonly session: string; readonly entry: MemoryEntry | undefined }[]> {
    const rows = yield* rowsOf(PAGE, owner, after, limit)
    return rows.map((row) => ({ id: Number(row.id), session: String(row.session), entry: this.#decode(row) }))
  }

  #decode({ id, session, body }: SqlRow): MemoryEntry | undefined {
    const entry = tryFromJson(body)
    if (isRecord(entry) && isRecord(entry.content) && Array.isArray(entry.content.parts))
      return { ...entry, content: entry.content as unknown as Content }
    this.#reportDamage(`Memory ${Number(id)} of session "${String(session)}"`)
    return undefined
  }
}

/** The word that all messages of an owner have. */
function ownerWord(owner: number): string {
  return `u${owner}`
}
