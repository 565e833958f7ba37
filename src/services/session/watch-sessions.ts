import type { SessionKey, SessionService } from './service.ts'

/** Watches a store until the returned function is called. A store without `watch` calls the listener never. */
export function watchSessions(store: Pick<SessionService, 'watch'>, listener: (key: SessionKey) => void): () => void {
  let isWatched = true
  // unknown: a store behind a proxy that makes every method asynchronous returns a promise
  const stop: unknown = store.watch?.((key) => {
    if (isWatched) listener(key)
  })
  const stopping = typeof stop === 'function' ? undefined : Promise.resolve(stop).catch(() => undefined)
  return () => {
    isWatched = false
    if (typeof stop === 'function') stop()
    else void stopping?.then((stopLater) => typeof stopLater === 'function' && stopLater())
  }
}
