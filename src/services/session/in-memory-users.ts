// The sessions of all users in memory, and how they are found.
import { copyJson, type JsonObject } from '../../core/base/json.ts'
import { checkKey, checkNewKey } from './check-key.ts'
import { FREE, InMemorySession } from './in-memory-session.ts'
import { type Scope, ScopedState } from './in-memory-state.ts'
import type { SessionKey } from './service.ts'
import { sessionExists } from './session-errors.ts'

interface App {
  readonly state: Scope
  readonly users: Map<string, InMemoryUser>
}

/** A user with its sessions. */
export interface InMemoryUser {
  /** The `user:` state. */
  readonly state: Scope
  /** The sessions by id. */
  sessions: Map<string, InMemorySession>
  /** Unfinished copies. They are kept apart from the sessions, so that only the holder of a lease finds them. */
  readonly copies: Map<string, InMemorySession>
}

/** A user of an app. */
type UserKey = Pick<SessionKey, 'appName' | 'userId'>

/** The users of all apps. */
export class InMemoryUsers {
  readonly #apps: Map<string, App> = new Map()
  #lastOrder = 0

  /** A position after all earlier ones, for sessions and requests. */
  readonly nextOrder = (): number => ++this.#lastOrder

  /** Creates a session that the caller stores. All code that can throw comes before the first change to shared state. */
  create(
    key: SessionKey,
    state: JsonObject | undefined,
    now: () => number,
  ): { readonly session: InMemorySession; readonly user: InMemoryUser } {
    checkNewKey(key)
    const { appName, userId, sessionId } = key
    const app = this.#apps.get(appName) ?? { state: new Map(), users: new Map() }
    const user = app.users.get(userId) ?? { state: new Map(), sessions: new Map(), copies: new Map() }
    if (user.sessions.has(sessionId) || user.copies.has(sessionId)) throw sessionExists(sessionId)
    const initial = state && copyJson(state)
    const session = new InMemorySession(key, new ScopedState(app.state, user.state), now(), this.nextOrder())
    if (initial) session.state.apply(initial)
    app.users.set(userId, user)
    this.#apps.set(appName, app)
    return { session, user }
  }

  /** Finds a user; undefined if it has no data. */
  find({ appName, userId }: UserKey): InMemoryUser | undefined {
    return this.#apps.get(appName)?.users.get(userId)
  }

  /** The users of an app. */
  of(appName: string): Iterable<InMemoryUser> {
    return this.#apps.get(appName)?.users.values() ?? []
  }

  /** The sessions of an app, without unfinished copies. */
  *sessionsOf(appName: string): Iterable<InMemorySession> {
    for (const { sessions } of this.of(appName)) yield* sessions.values()
  }

  /** Finds a session that is no unfinished copy. */
  session(key: SessionKey): InMemorySession | undefined {
    const found = this.find(key)?.sessions.get(key.sessionId)
    if (!found) checkKey(key) // the key of a stored session is valid
    return found
  }

  /** Finds a session or an unfinished copy. */
  sessionOrCopy(key: SessionKey): InMemorySession | undefined {
    const user = this.find(key)
    return user?.sessions.get(key.sessionId) ?? user?.copies.get(key.sessionId)
  }

  /** Makes an unfinished copy a session. */
  completeCopy(session: InMemorySession): void {
    const { sessionId } = session.key
    const user = this.find(session.key)
    if (user?.copies.delete(sessionId)) user.sessions.set(sessionId, session)
  }

  /** Deletes a session, and returns it. Its lease is lost. */
  deleteSession(key: SessionKey): InMemorySession | undefined {
    const user = this.find(key)
    const session = user?.sessions.get(key.sessionId)
    if (!user || !session) return undefined
    user.sessions.delete(key.sessionId)
    session.epoch = FREE
    // A Map that is filled and emptied again and again keeps deleted values alive until the next garbage collection.
    if (user.sessions.size === 0) user.sessions = new Map()
    return session
  }

  /** Deletes a user, and returns its sessions and copies. Their leases are lost. */
  deleteUser(user: UserKey): readonly InMemorySession[] {
    const found = this.find(user)
    if (!found) return []
    const sessions = [...found.sessions.values(), ...found.copies.values()]
    for (const session of sessions) session.epoch = FREE
    this.#apps.get(user.appName)?.users.delete(user.userId)
    return sessions
  }
}
