import { copyJson } from '../base/json.ts'
import type { Content } from '../content/content.ts'
import type { Event } from '../event/event.ts'
import type { Session } from '../session/service.ts'
import { Bm25Index } from './bm25.ts'
import type { MemoryEntry, MemoryService } from './service.ts'
import { splitWords } from './words.ts'

/** The most characters of a query. Longer queries are cut, so that no search is expensive. */
const MAX_QUERY_LENGTH = 100_000

/** Keeps the text of events in the memory of this process, and searches it by words. */
export class InMemoryMemoryService implements MemoryService {
  readonly #users: Map<string, UserMemory> = new Map()

  async addSessionToMemory(session: Session): Promise<void> {
    const entries = session.events.flatMap(toEntry)
    const key = toKey(session)
    const memory = this.#users.get(key) ?? new UserMemory()
    memory.replace(session.id, entries)
    this.#users.set(key, memory)
  }

  async searchMemory(options: {
    appName: string
    userId: string
    query: string
  }): Promise<{ memories: readonly MemoryEntry[] }> {
    return { memories: this.#users.get(toKey(options))?.search(options.query) ?? [] }
  }

  async deleteSession(options: { appName: string; userId: string; sessionId: string }): Promise<void> {
    this.#users.get(toKey(options))?.replace(options.sessionId, [])
  }

  async deleteUser(options: { appName: string; userId: string }): Promise<void> {
    this.#users.delete(toKey(options))
  }
}

class UserMemory {
  readonly #index = new Bm25Index()
  readonly #entries: Map<number, MemoryEntry> = new Map()
  readonly #sessions: Map<string, readonly number[]> = new Map()
  #lastId = 0

  replace(sessionId: string, entries: readonly MemoryEntry[]): void {
    for (const id of this.#sessions.get(sessionId) ?? []) {
      this.#index.remove(id)
      this.#entries.delete(id)
    }
    this.#sessions.delete(sessionId)
    if (entries.length > 0)
      this.#sessions.set(
        sessionId,
        entries.map((entry) => this.#add(entry)),
      )
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

  #add(entry: MemoryEntry): number {
    const id = ++this.#lastId
    this.#entries.set(id, entry)
    this.#index.add(id, splitWords(entry.content.parts.map(({ text }) => text).join('\n')))
    return id
  }
}

/** The text of an event, without the model's thinking. Empty if the event has none. */
function toEntry({ content, partial, author, timestamp }: Event): MemoryEntry[] {
  if (!content || partial) return []
  const parts: Content['parts'] = content.parts.flatMap(({ text, thought }) => (text && !thought ? [{ text }] : []))
  return parts.length > 0 ? [{ content: { role: content.role, parts }, author, timestamp }] : []
}

function timeOf({ timestamp }: MemoryEntry): number {
  return timestamp ?? 0
}

/** Joins both ids to one key. It is JSON, because an id may contain any separator. */
function toKey({ appName, userId }: { appName: string; userId: string }): string {
  return JSON.stringify([appName, userId])
}
