import { ApiError } from './api/api-error.ts'
import { type Changes, streamChanges, type Watched } from './api/changes.ts'
import type { SessionKey } from './api/types.ts'
import { sessionList } from './sessions/session-list.ts'
import { connection } from './state/connection.ts'
import { userId } from './state/preferences.ts'
import { route } from './state/route.ts'

/** The server sends something every ten seconds. */
const QUIET_MS = 25_000
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 2000

/** What to do with what the server tells. */
export interface ServerHandlers {
  /** The page is connected after a break or a time in the background: anything may have changed. */
  onOnline(): void
  /** Something has changed. `session` is the one that the page shows. */
  onChanges(changes: Changes, session: SessionKey | undefined): void
}

/** Holds one stream of changes open while the page is visible, and opens it again when it breaks. Returns the stop. */
export function followServer(handlers: ServerHandlers): () => void {
  const follower = new Follower(handlers)
  void follower.run()
  return () => follower.stop()
}

class Follower {
  readonly #handlers: ServerHandlers
  readonly #stops: readonly (() => void)[]
  #isStopped = false
  /** Does the page know everything up to now? It reads everything at its start. */
  #isCurrent = true
  #watched = watchedNow()
  /** May this page not see the session? */
  #isRefused = false
  #breaksInARow = 0
  #attempt = new AbortController()

  constructor(handlers: ServerHandlers) {
    this.#handlers = handlers
    const again = (): void => this.#attempt.abort()
    const reselect = (): void => {
      const watched = watchedNow()
      if (JSON.stringify(watched) === JSON.stringify(this.#watched)) return
      this.#watched = watched
      this.#isRefused = false
      again()
    }
    document.addEventListener('visibilitychange', again)
    for (const name of ['online', 'offline']) addEventListener(name, again)
    this.#stops = [
      route.watch(reselect),
      userId.watch(reselect),
      sessionList.watch(reselect),
      () => document.removeEventListener('visibilitychange', again),
      () => ['online', 'offline'].forEach((name) => void removeEventListener(name, again)),
    ]
  }

  /** Runs until `stop()` is called. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      if (document.visibilityState === 'hidden') {
        this.#isCurrent = false
        await pause(undefined, this.#newAttempt())
      } else if (await this.#breaks(this.#newAttempt())) {
        const ms = FIRST_RETRY_MS * 2 ** this.#breaksInARow++
        await pause(Math.min(LAST_RETRY_MS, ms), this.#newAttempt())
      }
    }
  }

  /** Stops. */
  stop(): void {
    this.#isStopped = true
    for (const stop of this.#stops) stop()
    this.#attempt.abort()
  }

  #newAttempt(): AbortSignal {
    this.#attempt = new AbortController()
    return this.#attempt.signal
  }

  /** Follows the server. False if the signal aborts before the stream breaks. */
  async #breaks(signal: AbortSignal): Promise<boolean> {
    const quiet = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isLocked = false
    const watched = this.#isRefused ? { session: undefined, list: undefined } : this.#watched
    try {
      for await (const changes of streamChanges(watched, AbortSignal.any([signal, quiet.signal]))) {
        clearTimeout(timer)
        timer = setTimeout(() => quiet.abort(), QUIET_MS)
        connection.set('online')
        this.#breaksInARow = 0
        if (!this.#isCurrent) this.#handlers.onOnline()
        this.#isCurrent = true
        this.#handlers.onChanges(changes, watched.session)
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) this.#isRefused = true
      isLocked = error instanceof ApiError && error.status === 401
    } finally {
      clearTimeout(timer)
    }
    if (signal.aborted && navigator.onLine) return false
    this.#isCurrent = false
    connection.set(isLocked ? 'locked' : 'away')
    return true
  }
}

/** The session and the list that the page shows. */
function watchedNow(): Watched {
  const { value } = route
  const { app, userId: user, filter } = sessionList.value
  const list = app === '' ? undefined : { app, ...(!filter.allUsers && { user }) }
  if (value.view !== 'session' || value.sessionId === undefined) return { session: undefined, list }
  return { session: { app: value.app, userId: userId.value, sessionId: value.sessionId }, list }
}

/** Waits, forever without a time, until the signal aborts. */
function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
