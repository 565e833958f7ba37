import type { JsonObject } from '../../../core/base/json.ts'
import { scopeOfKey } from '../../../core/base/key-scope.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { SessionService, StateSize, UserUsage } from '../../../services/session/service.ts'
import { sizeOfState } from '../../../services/session/state-size.ts'
import type { ServerLimits } from '../server-options.ts'

/** What a client stores: state of a session, new or not. */
interface ClientWrite {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** The session; undefined for a new one. */
  readonly sessionId?: string | undefined
  /** Changes of state, in order. */
  readonly deltas: readonly (JsonObject | undefined)[]
}

type Limits = Pick<ServerLimits, 'sessionsPerUser' | 'stateKeys' | 'stateBytes'>

const NOTHING: StateSize = { keys: 0, bytes: 0 }

/**
 * Limits what clients store for each user: sessions, and the keys and bytes of state. A write that is under way counts, so that
 * many at the same time cannot exceed a limit together.
 */
export class ClientWrites {
  readonly #limits: Limits
  readonly #underWay: Map<string, Set<{ readonly sessions: number; readonly size: StateSize }>> = new Map()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Reserves room for a write. Throws `TOO_LARGE` if there is none. Call the returned function when the write has ended. */
  async reserve(service: SessionService, write: ClientWrite): Promise<() => void> {
    for (const delta of write.deltas) this.#checkKeys(delta)
    const changes = merge(write.deltas)
    const sizes = { user: sizeOf(changes, 'user'), session: sizeOf(changes, 'session') }
    const isNew = write.sessionId === undefined
    const size = add(sizes.user, sizes.session)
    if (!isNew && size.keys === 0) return () => {} // it only deletes
    for (const one of [sizes.user, sizes.session]) this.#check(one)
    const key = JSON.stringify([write.appName, write.userId])
    const reserved = { sessions: isNew ? 1 : 0, size }
    const others = this.#underWay.get(key) ?? new Set()
    const before = [...others]
    this.#underWay.set(key, others.add(reserved))
    const end = (): void => {
      others.delete(reserved)
      if (others.size === 0) this.#underWay.delete(key)
    }
    try {
      const rest = await readUsage(service, { ...write, without: [...changes.keys()] })
      const earlier = before.filter((one) => others.has(one)) // those that have ended are stored
      const waiting = earlier.map((one) => one.size).reduce(add, NOTHING)
      if (isNew) this.#checkSessions(rest.sessions + earlier.reduce((sum, { sessions }) => sum + sessions, 0))
      const after = {
        user: add(add(rest.userState, sizes.user), waiting),
        session: add(add(rest.sessionState, sizes.session), waiting),
      }
      const stored = this.#fits(after.user) && this.#fits(after.session) ? undefined : await readUsage(service, write)
      // a tool may have stored more: what does not grow is still accepted
      if (stored && sizes.user.keys > 0 && !isWithin(after.user, stored.userState)) this.#check(after.user)
      if (stored && sizes.session.keys > 0 && !isWithin(after.session, stored.sessionState)) this.#check(after.session)
      return end
    } catch (error) {
      end()
      throw error
    }
  }

  /** Refuses a change with far too many keys before anything else looks at them. */
  #checkKeys(delta: JsonObject | undefined): void {
    let keys = 0
    for (const key in delta) {
      if (delta[key] !== null && scopeOfKey(key) !== 'temp' && ++keys > this.#limits.stateKeys * 2)
        this.#check({ keys, bytes: 0 })
    }
  }

  #fits({ keys, bytes }: StateSize): boolean {
    return keys <= this.#limits.stateKeys && bytes <= this.#limits.stateBytes
  }

  #check(size: StateSize): void {
    if (this.#fits(size)) return
    const { stateKeys, stateBytes } = this.#limits
    throw new ToolwrightError(
      'TOO_LARGE',
      `The state would have ${size.keys} keys with ${size.bytes} bytes. A session, and the \`user:\` keys of a user, may have ${stateKeys} keys with ${stateBytes} bytes. Delete keys, or save large values as artifacts.`,
    )
  }

  #checkSessions(sessions: number): void {
    const { sessionsPerUser } = this.#limits
    if (sessions < sessionsPerUser) return
    throw new ToolwrightError(
      'TOO_LARGE',
      `The user has ${sessions} sessions, and the limit is ${sessionsPerUser}. Delete sessions first.`,
    )
  }
}

/** The last value of each key. */
function merge(deltas: ClientWrite['deltas']): ReadonlyMap<string, unknown> {
  const changes = new Map<string, unknown>()
  for (const delta of deltas) for (const key of Object.keys(delta ?? {})) changes.set(key, delta?.[key])
  return changes
}

function sizeOf(changes: ReadonlyMap<string, unknown>, scope: 'user' | 'session'): StateSize {
  let size = NOTHING
  for (const [key, value] of changes) {
    if (value === null || value === undefined || scopeOfKey(key) !== scope) continue
    size = add(size, { keys: 1, bytes: sizeOfState(key, value) })
  }
  return size
}

function add(one: StateSize, other: StateSize): StateSize {
  return { keys: one.keys + other.keys, bytes: one.bytes + other.bytes }
}

function isWithin(one: StateSize, other: StateSize): boolean {
  return one.keys <= other.keys && one.bytes <= other.bytes
}

/** How much a user has stored. A store that cannot count is read. */
async function readUsage(
  service: SessionService,
  options: { appName: string; userId: string; sessionId?: string | undefined; without?: readonly string[] },
): Promise<UserUsage> {
  if (service.usage) return await service.usage(options)
  const sessions = await service.listSessions(options)
  const known = sessions.find(({ id }) => id === options.sessionId) ?? sessions[0]
  const without = new Set(options.without)
  const kept = new Map(Object.entries(known?.state ?? {}).filter(([key]) => !without.has(key)))
  const isOwn = known !== undefined && known.id === options.sessionId
  return {
    sessions: sessions.length,
    userState: sizeOf(kept, 'user'),
    sessionState: isOwn ? sizeOf(kept, 'session') : NOTHING,
  }
}
