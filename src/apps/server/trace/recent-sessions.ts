/** How many sessions are remembered. */
const MAX_SESSIONS = 1000

/**
 * The users of the sessions that clients have used lately. ADK's trace routes name a session or an event without its user, and
 * stores find sessions by user only.
 */
export class RecentSessions {
  /** By session and user, the latest last. */
  readonly #sessions: Map<string, RecentSession> = new Map()

  /** Remembers a session. */
  add(session: RecentSession): void {
    const key = JSON.stringify([session.sessionId, session.userId])
    this.#sessions.delete(key)
    this.#sessions.set(key, session)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest)
  }

  /** The remembered sessions, the latest first. `sessionId` narrows the list. */
  find(sessionId?: string): RecentSession[] {
    const all = [...this.#sessions.values()].reverse()
    return sessionId === undefined ? all : all.filter((session) => session.sessionId === sessionId)
  }
}

/** A session of a user. */
export interface RecentSession {
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
}
