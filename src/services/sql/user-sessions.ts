import type { JsonObject } from '../../core/base/json.ts'
import { checkFilter, checkId, checkKey, checkUser } from '../session/check-key.ts'
import type {
  IdleConditions,
  Lease,
  Page,
  PageOptions,
  PrunableSession,
  PruneFilter,
  Session,
  SessionKey,
  SessionService,
  UserUsage,
} from '../session/service.ts'
import type { LogCache } from './log-cache.ts'
import { claimIdle, findPrunable } from './prune-rules.ts'
import { listSessionPage, listSessions, usageOf } from './session-lists.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlDatabase } from './sql.ts'
import { deleteSomeSessions, deleteUserState, type UserOwner, userState } from './user-rules.ts'

type PageOf = Parameters<NonNullable<SessionService['listSessionPage']>>[0]
type UsageOf = Parameters<NonNullable<SessionService['usage']>>[0]

/** All sessions of a user: their list, what they take, and their end. */
export class UserSessions {
  readonly #database: SqlDatabase
  readonly #tables: SessionTables
  readonly #cache: LogCache

  constructor(database: SqlDatabase, tables: SessionTables, cache: LogCache) {
    this.#database = database
    this.#tables = tables
    this.#cache = cache
  }

  /** Lists the sessions of a user, without events. */
  async list({ appName, userId }: UserOwner): Promise<Session[]> {
    checkId('appName', appName)
    checkId('userId', userId)
    return await this.#database.read(() => listSessions(this.#tables, { appName, userId }))
  }

  /** Lists a part of the sessions of a user. */
  async page(options: PageOf): Promise<Page<Session>> {
    checkFilter({ appName: options.appName, userId: options.userId })
    return await this.#database.read(() => listSessionPage(this.#tables, options))
  }

  /** How much a user has stored. */
  async usage(options: UsageOf): Promise<UserUsage> {
    const { appName, userId, sessionId } = options
    checkFilter({ appName, userId, sessionId })
    return await this.#database.read(() => usageOf(this.#tables, options))
  }

  /** Deletes the sessions and the `user:` state of a user, some sessions at a time. */
  async delete({ appName, userId }: UserOwner): Promise<void> {
    const user = { appName, userId }
    checkUser(user)
    let ids: readonly number[]
    do {
      ids = await this.#database.write(() => deleteSomeSessions(this.#tables, user))
      for (const id of ids) this.#cache.forget(id)
    } while (ids.length > 0)
    this.#tables.state.take(await this.#database.write(() => deleteUserState(this.#tables, user)))
  }

  /** The `user:` state of a user. */
  async state({ appName, userId }: UserOwner): Promise<JsonObject> {
    checkUser({ appName, userId })
    return await this.#database.read(() => userState(this.#tables, { appName, userId }))
  }

  /** Finds a part of the sessions that retention may delete. */
  async findPrunable(filter: PruneFilter & PageOptions): Promise<Page<PrunableSession>> {
    checkId('appName', filter.appName)
    return await this.#database.read(() => findPrunable(filter))
  }

  /** Claims a session to delete it, unless it is in use. */
  async claimIdle({ appName, userId, sessionId }: SessionKey, conditions: IdleConditions): Promise<Lease | undefined> {
    const key = { appName, userId, sessionId }
    checkKey(key)
    return await this.#database.write(() => claimIdle(this.#tables, key, conditions))
  }
}
