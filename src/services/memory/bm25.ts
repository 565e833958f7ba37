/** How quickly repeated occurrences of a word stop adding to the score. */
const K1 = 1.2
/** How much the length of a document reduces its score. */
const B = 0.75
/** The most words of a query. Further words are ignored, so that no query is expensive. */
const MAX_QUERY_WORDS = 1000

/**
 * A search index that ranks documents by Okapi BM25. Documents can be added and removed.
 *
 * @example
 * const index = new Bm25Index()
 * index.add(1, ['red', 'apple'])
 * index.search(['apple']) // Map { 1 => 0.28... }
 */
export class Bm25Index {
  /** By word: how often each document has it. */
  readonly #postings: Map<string, Map<number, number>> = new Map()
  readonly #documents: Map<number, { readonly words: readonly string[]; readonly length: number }> = new Map()
  #totalLength = 0

  /** The number of documents. */
  get size(): number {
    return this.#documents.size
  }

  /** Adds a document, or replaces the document with this id. */
  add(id: number, words: Iterable<string>): void {
    this.remove(id)
    const distinct = new Set<string>()
    let length = 0
    for (const word of words) {
      length++
      distinct.add(word)
      const posting = this.#postings.get(word) ?? new Map<number, number>()
      this.#postings.set(word, posting.set(id, (posting.get(id) ?? 0) + 1))
    }
    this.#documents.set(id, { words: [...distinct], length })
    this.#totalLength += length
  }

  /** Removes a document. Does nothing if there is none. Returns how many distinct words it had. */
  remove(id: number): number {
    const document = this.#documents.get(id)
    if (!document) return 0
    for (const word of document.words) {
      const posting = this.#postings.get(word)
      posting?.delete(id)
      if (posting?.size === 0) this.#postings.delete(word)
    }
    this.#documents.delete(id)
    this.#totalLength -= document.length
    return document.words.length
  }

  /** The score of each document that has at least one of the words. Higher is better. */
  search(query: Iterable<string>): Map<number, number> {
    const scores = new Map<number, number>()
    const meanLength = this.#totalLength / this.size
    for (const word of firstDistinct(query)) {
      const posting = this.#postings.get(word)
      if (!posting) continue
      const rarity = rarityOf(this.size, posting.size)
      for (const [id, count] of posting) {
        const length = this.#documents.get(id)?.length ?? meanLength
        scores.set(id, (scores.get(id) ?? 0) + rarity * dampen(count, length / meanLength))
      }
    }
    return scores
  }
}

/** How much a word counts that `withWord` of the documents have. */
export function rarityOf(documents: number, withWord: number): number {
  return Math.log(1 + (documents - withWord + 0.5) / (withWord + 0.5))
}

/** How much repeated occurrences of a word count, in a document whose length is this many times the mean length. */
export function dampen(count: number, relativeLength: number): number {
  return (count * (K1 + 1)) / (count + K1 * (1 - B + B * relativeLength))
}

function firstDistinct(words: Iterable<string>): ReadonlySet<string> {
  const distinct = new Set<string>()
  for (const word of words) {
    distinct.add(word)
    if (distinct.size === MAX_QUERY_WORDS) break
  }
  return distinct
}
