import { lengthOf, MAX_QUERY_LENGTH, newestWithin, textOf } from '../memory/memory-entries.ts'
import { Pace } from '../memory/pace.ts'
import { searchWords } from '../memory/search-words.ts'
import type { MemoryEntry, MemoryService, StoredMemory } from '../memory/service.ts'
import { splitText } from '../memory/words.ts'
import { checkKey, checkUser } from '../session/check-key.ts'
import { readPagePosition, takePage } from '../session/page.ts'
import type { Page, PageOptions, Session, SessionKey } from '../session/service.ts'
import { fromText, toJson } from './escaped-text.ts'
import type { MemoryIndex } from './memory-index.ts'
import { rankMemories } from './memory-ranking.ts'
import { type EncodedMemory, type FoundMemory, MemoryRows } from './memory-rows.ts'
import { type DamageLogger, damageReporter } from './report-skipped-rows.ts'
import type { SqlDatabase, SqlWork } from './sql.ts'
import type { UserOwner } from './user-rules.ts'

/** The most results of a search. */
const MAX_RESULTS = 200
/** The most words of a query. Further words are ignored, so that no query is expensive. */
const MAX_QUERY_WORDS = 100
/** How many messages are deleted in one transaction: other writers wait for it. */
const DELETED_AT_ONCE = 500

const NOTHING: ReadonlyMap<string, EncodedMemory> = new Map()

/** Stores the text of sessions in a SQL database, and searches it by words. */
export class SqlMemoryService implements MemoryService {
  readonly #database: SqlDatabase
  readonly #rows: MemoryRows

  constructor(database: SqlDatabase, options: { readonly index: MemoryIndex; readonly logger: DamageLogger }) {
    this.#database = database
    this.#rows = new MemoryRows(options.index, damageReporter(options.logger))
  }

  /**
   * Adds a session, or replaces the earlier version of it: the newest 2,000,000 characters, and of each message the first 100,000.
   * Only what has changed is written.
   */
  async addSessionToMemory({ appName, userId, id: sessionId, events }: Session): Promise<void> {
    const key = { appName, userId, sessionId }
    checkKey(key)
    const memories = new Map<string, MemoryEntry>()
    const bodies = newestWithin(events).map((entry) => {
      const body = toJson(entry, 'A message')
      memories.set(body, entry)
      return body
    })
    const encoded = new Map<string, EncodedMemory>()
    let missing: readonly string[] = await this.#database.read(() => this.#missing(key, bodies, encoded))
    do {
      for (const body of missing) encoded.set(body, await encodeMemory(memories.get(body) as MemoryEntry, body))
      missing = await this.#database.write(() => this.#replace(key, bodies, encoded))
    } while (missing.length > 0) // another process has changed the session meanwhile
  }

  /** The messages of the user that match a query, best first; at most 200. */
  async searchMemory(options: UserOwner & { query: string }): Promise<{ memories: readonly MemoryEntry[] }> {
    const user = { appName: options.appName, userId: options.userId }
    checkUser(user)
    const words = firstDistinct(searchWords(options.query.slice(0, MAX_QUERY_LENGTH)))
    if (words.length === 0) return { memories: [] }
    const ranked = await this.#database.read(() => this.#search(user, words))
    return { memories: ranked.map(({ entry }) => entry) }
  }

  /** Removes a session from the memory. */
  async deleteSession({ appName, userId, sessionId }: SessionKey): Promise<void> {
    const key = { appName, userId, sessionId }
    checkKey(key)
    await this.#database.write(() => this.#replace(key, [], NOTHING))
  }

  /** Removes all sessions of a user from the memory, some messages at a time. */
  async deleteUser({ appName, userId }: UserOwner): Promise<void> {
    checkUser({ appName, userId })
    const rows = this.#rows
    let hasMore: boolean
    do {
      hasMore = await this.#database.write(function* () {
        // made if there is none, to wait for another process that is adding the first messages of the user
        return yield* rows.removeSome(yield* rows.addUser({ appName, userId }), DELETED_AT_ONCE)
      })
    } while (hasMore)
  }

  /** A part of the stored messages of a user, in the order in which they were added. */
  async listMemories(options: UserOwner & PageOptions): Promise<Page<StoredMemory>> {
    checkUser(options)
    const after = readPagePosition(options)
    const rows = this.#rows
    const found = await this.#database.read(function* () {
      const owner = yield* rows.findUser(options)
      return owner === undefined ? [] : yield* rows.page(owner, after, options.limit + 1)
    })
    return takePage(found, options, ({ id, session, entry }) => {
      if (!entry) return undefined
      const item = { sessionId: fromText(session, 'The id of a session'), memory: entry }
      return { item, position: id, bytes: lengthOf(entry) }
    })
  }

  /** The messages that are neither stored nor encoded. */
  *#missing(
    { sessionId, ...user }: SessionKey,
    bodies: readonly string[],
    encoded: ReadonlyMap<string, EncodedMemory>,
  ): SqlWork<string[]> {
    const owner = yield* this.#rows.findUser(user)
    const stored = owner === undefined ? [] : yield* this.#rows.bodies(owner, sessionId)
    return [...changesTo(stored, bodies).added.keys()].filter((body) => !encoded.has(body))
  }

  /** Makes `bodies` the messages of a session. Changes nothing if some are not encoded, and returns those. */
  *#replace(
    key: SessionKey,
    bodies: readonly string[],
    encoded: ReadonlyMap<string, EncodedMemory>,
  ): SqlWork<readonly string[]> {
    const { sessionId, ...user } = key
    const owner = bodies.length > 0 ? yield* this.#rows.addUser(user) : yield* this.#rows.lockUser(user)
    if (owner === undefined) return []
    const missing = yield* this.#missing(key, bodies, encoded)
    if (missing.length > 0) return missing
    const { added, removed } = changesTo(yield* this.#rows.bodies(owner, sessionId), bodies)
    yield* this.#rows.remove(removed)
    const memories = [...added].flatMap(([body, count]) =>
      Array<EncodedMemory | undefined>(count).fill(encoded.get(body)),
    )
    yield* this.#rows.add(
      owner,
      sessionId,
      memories.filter((memory) => memory !== undefined),
    )
    return []
  }

  *#search(user: UserOwner, words: readonly string[]): SqlWork<FoundMemory[]> {
    const owner = yield* this.#rows.findUser(user)
    if (owner === undefined) return []
    const found = yield* this.#rows.find(owner, words, MAX_RESULTS)
    const withWord = new Map<string, number>()
    for (const word of words) {
      // all messages with the word are among those that were found, unless there are too many
      const count =
        found.length < MAX_RESULTS
          ? found.filter((one) => one.words.includes(word)).length
          : yield* this.#rows.count(owner, word)
      if (count > 0) withWord.set(word, count)
    }
    return rankMemories(found, { ...(yield* this.#rows.totals(owner)), withWord })
  }
}

/** What makes the stored messages of a session these messages: how many of each to add, and the rows to remove. */
function changesTo(
  stored: readonly { readonly id: number; readonly body: string }[],
  bodies: readonly string[],
): { readonly added: ReadonlyMap<string, number>; readonly removed: readonly number[] } {
  const added = new Map<string, number>()
  for (const body of bodies) added.set(body, (added.get(body) ?? 0) + 1)
  const removed: number[] = []
  for (const { id, body } of stored) {
    const count = added.get(body)
    if (count === undefined) removed.push(id)
    else if (count > 1) added.set(body, count - 1)
    else added.delete(body)
  }
  return { added, removed }
}

/** Splits a message into words. Other work goes on meanwhile. */
async function encodeMemory(entry: MemoryEntry, body: string): Promise<EncodedMemory> {
  const words: string[] = []
  const pace = new Pace()
  for (const piece of splitText(textOf(entry))) {
    for (const word of searchWords(piece)) words.push(word)
    await pace.after(piece.length)
  }
  return { body, words: words.join(' '), length: words.length }
}

function firstDistinct(words: Iterable<string>): string[] {
  const distinct = new Set<string>()
  for (const word of words) {
    distinct.add(word)
    if (distinct.size === MAX_QUERY_WORDS) break
  }
  return [...distinct]
}
