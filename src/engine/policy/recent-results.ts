/** The result of a call, and whether the agent ends its turn with it. */
export interface CachedResult {
  /** What the body returned. */
  readonly value: unknown
  /** The `skipSummarization` action of the call. */
  readonly skipSummarization: boolean
}

/** Keeps results by key. It removes the least recently used ones, and those older than `ttlMs`. */
export class RecentResults {
  readonly #entries: Map<string, { readonly result: CachedResult; readonly expiresAt: number }> = new Map()
  readonly #ttlMs: number
  readonly #maxEntries: number
  readonly #now: () => number

  constructor(ttlMs: number, maxEntries: number, now: () => number) {
    this.#ttlMs = ttlMs
    this.#maxEntries = maxEntries
    this.#now = now
  }

  /** The result for a key, if it has not expired. */
  get(key: string): CachedResult | undefined {
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    if (!entry || entry.expiresAt <= this.#now()) return undefined
    this.#entries.set(key, entry) // the last entry is the most recently used
    return entry.result
  }

  /** Stores a result. */
  set(key: string, result: CachedResult): void {
    this.#entries.set(key, { result, expiresAt: this.#now() + this.#ttlMs })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest)
  }
}
