import type { SessionKey } from './service.ts'

/** Those who watch the sessions of a service in memory. */
export type SessionWatchers = Set<(key: SessionKey) => void>

/** Calls the listener when a session has changed, until the returned function is called. */
export function addWatcher(watchers: SessionWatchers, listener: (key: SessionKey) => void): () => void {
  const own = (key: SessionKey): void => listener(key) // the same function may watch twice
  watchers.add(own)
  return () => void watchers.delete(own)
}

/** Tells all listeners, later: what they do must not delay or fail the write. */
export function notifyWatchers(watchers: SessionWatchers, key: SessionKey): void {
  for (const listener of watchers) queueMicrotask(() => watchers.has(listener) && listener({ ...key }))
}
