import { dampen, rarityOf } from '../memory/bm25.ts'
import type { FoundMemory } from './memory-rows.ts'

/** What is known about all messages of a user. */
export interface Corpus {
  /** The number of messages. */
  readonly count: number
  /** The number of their words. */
  readonly length: number
  /** How many messages have each word of the query. */
  readonly withWord: ReadonlyMap<string, number>
}

/** Orders messages by how well they match a query, as the search in memory does: by BM25, then the newest first. */
export function rankMemories(found: readonly FoundMemory[], corpus: Corpus): FoundMemory[] {
  const scored = found.map((one) => ({ one, score: scoreOf(one.words, corpus) }))
  scored.sort((a, b) => b.score - a.score || timeOf(b.one) - timeOf(a.one) || b.one.id - a.one.id)
  return scored.map(({ one }) => one)
}

function scoreOf(words: readonly string[], { count, length, withWord }: Corpus): number {
  const counts = new Map<string, number>()
  for (const word of words) if (withWord.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const relativeLength = words.length / (length / count)
  let score = 0
  // in the order of the query, as in memory: sums of equal scores are equal
  for (const [word, documents] of withWord) {
    const times = counts.get(word)
    if (times !== undefined) score += rarityOf(count, documents) * dampen(times, relativeLength)
  }
  return score
}

function timeOf({ entry }: FoundMemory): number {
  return entry.timestamp ?? 0
}
