import type { SessionKey } from './service.ts'

/** Those who watch the sessions of a service in memory. */
export class SessionWatchers {
  readonly #listeners: Set<(key: SessionKey) => void> = new Set()

  /** Whether anyone watches. */
  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  /** Calls the listener when a session has changed, until the returned function is called. */
  add(listener: (key: SessionKey) => void): () => void {
    const own = (key: SessionKey): void => listener(key) // the same function may watch twice
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** Tells all listeners, later: what they do must not delay or fail the write. */
  notify(key: SessionKey): void {
    for (const listener of this.#listeners) queueMicrotask(() => this.#listeners.has(listener) && listener({ ...key }))
  }
}
