// Parts of what is stored in memory: of users, of logs, and what retention may delete.
import { copyJson, type JsonObject, jsonSize } from '../../core/base/json.ts'
import { checkFilter, checkId, checkUser } from './check-key.ts'
import { prunable } from './in-memory-prune.ts'
import type { InMemorySession } from './in-memory-session.ts'
import { scopeToJson, sizeOfScope } from './in-memory-state.ts'
import type { InMemoryUsers } from './in-memory-users.ts'
import { readLogStart, readPagePosition, takePage } from './page.ts'
import type {
  LogPage,
  Page,
  PageOptions,
  PrunableSession,
  PruneFilter,
  Session,
  SessionService,
  UserUsage,
} from './service.ts'

/** A session with the events that `config` selects. */
export function selectEvents(
  session: InMemorySession,
  { config = {} }: Parameters<SessionService['getSession']>[0],
): Session {
  const { numRecentEvents, afterTimestamp } = config
  let events = session.events()
  if (afterTimestamp !== undefined) events = events.filter((event) => event.timestamp >= afterTimestamp)
  if (numRecentEvents !== undefined) events = events.slice(Math.max(0, events.length - numRecentEvents))
  return session.toSession(events)
}

/** A part of the sessions of a user, without events. */
export function sessionPage(
  users: InMemoryUsers,
  options: Parameters<NonNullable<SessionService['listSessionPage']>>[0],
): Page<Session> {
  const { appName, userId, newestFirst = false } = options
  checkFilter({ appName, userId })
  const after = readPagePosition(options)
  const sessions = [...(users.find({ appName, userId })?.sessions.values() ?? [])]
  const all = sessions.sort((one, other) => one.order - other.order) // a copy has its place from its start on
  const isAfter = ({ order }: InMemorySession): boolean => after === 0 || (newestFirst ? order < after : order > after)
  return takePage((newestFirst ? all.reverse() : all).filter(isAfter), options, (session) => {
    const item = session.toSession([])
    return { item, position: session.order, bytes: sizeWithin(item.state, options) }
  })
}

/** How much a user has stored. */
export function usageOf(users: InMemoryUsers, options: Parameters<NonNullable<SessionService['usage']>>[0]): UserUsage {
  const { appName, userId, sessionId, without = [] } = options
  checkFilter({ appName, userId, sessionId })
  const user = users.find({ appName, userId })
  const left = new Set(without)
  return {
    sessions: user?.sessions.size ?? 0,
    userState: sizeOfScope(user?.state, left),
    sessionState: sizeOfScope(user?.sessions.get(sessionId ?? '')?.state.own, left),
  }
}

/** A part of the sessions that retention may delete. */
export function prunablePage(users: InMemoryUsers, filter: PruneFilter & PageOptions): Page<PrunableSession> {
  checkId('appName', filter.appName)
  const after = readPagePosition(filter)
  const found = prunable(users.of(filter.appName), filter)
    .filter(({ order }) => order > after)
    .sort((one, other) => one.order - other.order)
  return takePage(found, filter, (one) => {
    return { item: { ...one.key, updatedAt: one.updatedAt }, position: one.order, bytes: 0 }
  })
}

/** The `user:` state of a user. */
export function userState(users: InMemoryUsers, user: { appName: string; userId: string }): JsonObject {
  checkUser(user)
  return scopeToJson(users.find(user)?.state)
}

/** A part of a log. */
export function logPage(
  users: InMemoryUsers,
  options: Parameters<NonNullable<SessionService['readLog']>>[0],
): LogPage | undefined {
  const { limit = Number.POSITIVE_INFINITY, maxBytes } = options
  const start = readLogStart(options)
  const log = users.session(options)?.log
  if (!log) return undefined
  const entries = log.entries.slice(start, start + limit)
  if (maxBytes === undefined || entries.length === 0) return { entries: copyJson(entries), lastSeq: log.seq }
  const { items } = takePage(entries, { limit: entries.length, maxBytes }, (entry) => {
    return { item: copyJson(entry), position: entry.seq, bytes: jsonSize(entry, maxBytes) }
  })
  return { entries: items, lastSeq: log.seq }
}

/** The size of an item, if it matters for the page. */
export function sizeWithin(item: unknown, { maxBytes }: PageOptions): number {
  return maxBytes === undefined ? 0 : jsonSize(item, maxBytes)
}
