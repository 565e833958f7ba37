// Sessions that the server makes for itself: calls of the tool bench, and what-if copies. Their ids are signed: a user who chooses a
// similar id has a normal session.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { newId } from '../../../core/base/new-id.ts'
import type { SessionService } from '../../../services/session/service.ts'

/** What the sessions are for. The id of a session starts with it. */
type SessionKind = 'bench' | 'what-if'

/** A session of a user. */
export interface UserSession {
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
}

/** Finds the agent that a session was made for; undefined for other sessions. */
type FindAgent = (session: UserSession) => string | undefined

/** Makes and recognises the ids of sessions of one kind in an app. */
export class SignedSessions {
  readonly #kind: SessionKind
  readonly #app: { readonly appName: string; readonly sessionService: SessionService }
  #key: string | undefined

  constructor(kind: SessionKind, app: { readonly appName: string; readonly sessionService: SessionService }) {
    this.#kind = kind
    this.#app = app
  }

  /** The id of a new session for this agent. */
  async newSessionId(agent: string, userId: string): Promise<string> {
    const key = (await this.#readKey()) ?? (await this.#createKey())
    const random = newId()
    return `${this.#kind}-${agent}-${random}-${sign(key, [userId, agent, random])}`
  }

  /** Reads the key, then finds agents without reading. */
  async finder(): Promise<FindAgent> {
    const key = await this.#readKey()
    return key === undefined ? () => undefined : (session) => agentOf(this.#kind, session, key)
  }

  /** The agent that a session was made for; undefined for other sessions. */
  async agentOf(session: UserSession): Promise<string | undefined> {
    return looksLike(this.#kind, session) ? (await this.finder())(session) : undefined
  }

  /** The pin with the key of the signatures. No client can read or write pins, and all processes of an app share them. */
  get #pin(): string {
    return `toolwright:${this.#kind}-sessions`
  }

  async #readKey(): Promise<string | undefined> {
    this.#key ??= await this.#app.sessionService.pins.get({ appName: this.#app.appName }, this.#pin)
    return this.#key
  }

  /** Another process may be faster: then its key counts. */
  async #createKey(): Promise<string> {
    const key = randomBytes(32).toString('hex')
    const { appName, sessionService } = this.#app
    const isStored = await sessionService.pins.set({ appName }, this.#pin, key, { expected: null })
    return isStored ? key : ((await this.#readKey()) ?? key)
  }
}

const PATTERNS: Readonly<Record<SessionKind, RegExp>> = {
  bench: /^bench-(.+)-([a-z2-7]{26})-([0-9a-f]{32})$/,
  'what-if': /^what-if-(.+)-([a-z2-7]{26})-([0-9a-f]{32})$/,
}

/** The ids of sessions that the server may have made for itself. Most sessions are of users. */
export const MAY_BE_SIGNED: RegExp = /^(?:bench|what-if)-/

/** May it be a session of this kind? Users can choose such ids, too: only the signature tells. */
export function looksLike(kind: SessionKind, { sessionId }: UserSession): boolean {
  return PATTERNS[kind].test(sessionId)
}

function agentOf(kind: SessionKind, { userId, sessionId }: UserSession, key: string): string | undefined {
  const [, agent = '', random = '', signature = ''] = PATTERNS[kind].exec(sessionId) ?? []
  if (signature === '') return undefined
  const expected = sign(key, [userId, agent, random])
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? agent : undefined
}

function sign(key: string, parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
