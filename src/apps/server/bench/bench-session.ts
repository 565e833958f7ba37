// The sessions of the tool bench belong to the app. Their ids are signed: a user who chooses a similar id has a normal session.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { newId } from '../../../core/base/new-id.ts'
import type { SessionService } from '../../../services/session/service.ts'

const BENCH_SESSION = /^bench-(.+)-([a-z2-7]{26})-([0-9a-f]{32})$/

/** The pin with the key of the signatures. No client can read or write pins, and all processes of an app share them. */
const KEY_PIN = 'toolwright:bench-sessions'

/** A session of a user. */
export interface UserSession {
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
}

/** Finds the agent whose tool bench started a session; undefined for other sessions. */
type FindBenchAgent = (session: UserSession) => string | undefined

/** Makes and recognises the ids of the tool bench's sessions of an app. */
export class BenchSessions {
  readonly #app: { readonly appName: string; readonly sessionService: SessionService }
  #key: string | undefined

  constructor(app: { readonly appName: string; readonly sessionService: SessionService }) {
    this.#app = app
  }

  /** The id of a new session for a call of a tool of this agent. */
  async newSessionId(agent: string, userId: string): Promise<string> {
    const key = (await this.#readKey()) ?? (await this.#createKey())
    const random = newId()
    return `bench-${agent}-${random}-${sign(key, [userId, agent, random])}`
  }

  /** Reads the key, then finds agents without reading. */
  async finder(): Promise<FindBenchAgent> {
    const key = await this.#readKey()
    return key === undefined ? () => undefined : (session) => agentOf(session, key)
  }

  /** The agent whose tool bench started a session; undefined for other sessions. */
  async agentOf(session: UserSession): Promise<string | undefined> {
    return looksLikeBench(session) ? (await this.finder())(session) : undefined
  }

  async #readKey(): Promise<string | undefined> {
    this.#key ??= await this.#app.sessionService.pins.get({ appName: this.#app.appName }, KEY_PIN)
    return this.#key
  }

  /** Another process may be faster: then its key counts. */
  async #createKey(): Promise<string> {
    const key = randomBytes(32).toString('hex')
    const { appName, sessionService } = this.#app
    const isStored = await sessionService.pins.set({ appName }, KEY_PIN, key, { expected: null })
    return isStored ? key : ((await this.#readKey()) ?? key)
  }
}

/** May it be a session of the tool bench? Users can choose such ids, too: only the signature tells. */
export function looksLikeBench({ sessionId }: UserSession): boolean {
  return BENCH_SESSION.test(sessionId)
}

function agentOf({ userId, sessionId }: UserSession, key: string): string | undefined {
  const [, agent = '', random = '', signature = ''] = BENCH_SESSION.exec(sessionId) ?? []
  if (signature === '') return undefined
  const expected = sign(key, [userId, agent, random])
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? agent : undefined
}

function sign(key: string, parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
