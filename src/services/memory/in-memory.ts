import { copyJson } from '../../core/base/json.ts'
import { readPagePosition, takePage } from '../session/page.ts'
import type { Page, PageOptions, Session } from '../session/service.ts'
import { Bm25Index } from './bm25.ts'
import { ENTRY_OVERHEAD, lengthOf, MAX_QUERY_LENGTH, newestWithin, textOf } from './memory-entries.ts'
import { Pace } from './pace.ts'
import type { MemoryEntry, MemoryService, StoredMemory } from './service.ts'
import { splitText, splitWords } from './words.ts'

/** The most characters of a user. The index takes many times as much memory. */
const MAX_USER_LENGTH = 2_000_000

/** Keeps the text of events in the memory of this process, and searches it by words. */
export class InMemoryMemoryService implements MemoryService {
  readonly #users: Map<string, UserMemory> = new Map()

  /**
   * Adds a session, or replaces the earlier version of it: the newest 2,000,000 characters, and of each message the first 100,000. If
   * the user then has more than 2,000,000, the sessions that were added first are forgotten.
   */
  async addSessionToMemory(session: Session): Promise<void> {
    const entries = newestWithin(session.events)
    const key = toKey(session)
    const memory = this.#users.get(key) ?? new UserMemory()
    this.#users.set(key, memory)
    await memory.replace(session.id, entries)
  }

  async searchMemory(options: {
    appName: string
    userId: string
    query: string
  }): Promise<{ memories: readonly MemoryEntry[] }> {
    return { memories: this.#users.get(toKey(options))?.search(options.query) ?? [] }
  }

  async listMemories(options: { appName: string; userId: string } & PageOptions): Promise<Page<StoredMemory>> {
    return this.#users.get(toKey(options))?.page(options) ?? { items: [] }
  }

  async deleteSession(options: { appName: string; userId: string; sessionId: string }): Promise<void> {
    await this.#users.get(toKey(options))?.replace(options.sessionId, [])
  }

  async deleteUser(options: { appName: string; userId: string }): Promise<void> {
    this.#users.delete(toKey(options))
  }
}

/** The memory of one user. A long session is added in pieces, between which other work goes on; searches see all of it or nothing. */
class UserMemory {
  readonly #index = new Bm25Index()
  readonly #entries: Map<number, MemoryEntry> = new Map()
  /** The ids of the entries, and their length, by session. */
  readonly #sessions: Map<string, { readonly ids: readonly number[]; readonly length: number }> = new Map()
  #lastId = 0
  #length = 0
  #last: Promise<void> = Promise.resolve()

  /** Replaces what is remembered of a session, after the changes that were asked for before. */
  replace(sessionId: string, entries: readonly MemoryEntry[]): Promise<void> {
    const replaced = this.#last.then(() => this.#replace(sessionId, entries))
    this.#last = replaced.catch(() => {})
    return replaced
  }

  async #replace(sessionId: string, entries: readonly MemoryEntry[]): Promise<void> {
    const added: [number, MemoryEntry][] = []
    let length = 0
    const pace = new Pace()
    for (const entry of entries) {
      const id = ++this.#lastId
      const words: string[] = []
      for (const piece of splitText(textOf(entry))) {
        for (const word of splitWords(piece)) words.push(word)
        await pace.after(piece.length)
      }
      this.#index.add(id, words)
      added.push([id, entry])
      length += lengthOf(entry)
      await pace.after(ENTRY_OVERHEAD)
    }
    const left = this.#forget(sessionId)
    for (const [id, entry] of added) this.#entries.set(id, entry)
    if (added.length > 0) this.#sessions.set(sessionId, { ids: added.map(([id]) => id), length })
    this.#length += length
    for (const [oldest] of this.#sessions) {
      if (this.#length <= MAX_USER_LENGTH) break
      for (const id of this.#forget(oldest)) left.push(id)
    }
    for (const id of left) {
      await pace.after(this.#index.remove(id))
    }
  }

  /** Hides the entries of a session from searches. Returns their ids, which the index still has. */
  #forget(sessionId: string): number[] {
    const { ids, length } = this.#sessions.get(sessionId) ?? { ids: [], length: 0 }
    for (const id of ids) this.#entries.delete(id)
    this.#sessions.delete(sessionId)
    this.#length -= length
    return [...ids]
  }

  /** A part of what is remembered, in the order in which it was added. */
  page(options: PageOptions): Page<StoredMemory> {
    const after = readPagePosition(options)
    const stored = [...this.#sessions].flatMap(([sessionId, { ids }]) => ids.map((id) => ({ id, sessionId })))
    const rest = stored.filter(({ id }) => id > after).sort((one, other) => one.id - other.id)
    return takePage(rest, options, ({ id, sessionId }) => {
      const memory = copyJson(this.#entries.get(id))
      return memory && { item: { sessionId, memory }, position: id, bytes: lengthOf(memory) }
    })
  }

  search(query: string): MemoryEntry[] {
    const scores = this.#index.search(splitWords(query.slice(0, MAX_QUERY_LENGTH)))
    const hits: { entry: MemoryEntry; id: number; score: number }[] = []
    for (const [id, score] of scores) {
      const entry = this.#entries.get(id)
      if (entry) hits.push({ entry, id, score })
    }
    hits.sort((a, b) => b.score - a.score || timeOf(b.entry) - timeOf(a.entry) || b.id - a.id)
    return hits.map(({ entry }) => copyJson(entry))
  }
}

function timeOf({ timestamp }: MemoryEntry): number {
  return timestamp ?? 0
}

/** Joins both ids to one key. It is JSON, because an id may contain any separator. */
function toKey({ appName, userId }: { appName: string; userId: string }): string {
  return JSON.stringify([appName, userId])
}
