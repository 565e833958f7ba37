// Parts of what is stored in memory: of users, of logs, and what retention may delete.
import { jsonSize } from '../../core/base/json.ts'
import { checkFilter, checkId } from './check-key.ts'
import { FREE, type InMemorySession } from './in-memory-session.ts'
import type { Scope } from './in-memory-state.ts'
import { readPagePosition, takePage } from './page.ts'
import type {
  IdleConditions,
  Page,
  PageOptions,
  PrunableSession,
  PruneFilter,
  Session,
  SessionService,
} from './service.ts'

/** The users of an app, and its state. */
export interface InMemoryApp {
  /** The `app:` state. */
  readonly state: Scope
  /** The users by id. */
  readonly users: Map<string, InMemoryUser>
}

/** The sessions of a user, and its state. */
export interface InMemoryUser {
  /** The `user:` state. */
  readonly state: Scope
  /** The sessions by id. */
  sessions: Map<string, InMemorySession>
  /** Unfinished copies. They are kept apart from the sessions, so that only the holder of a lease finds them. */
  readonly copies: Map<string, InMemorySession>
}

/** A part of the sessions of a user, without events. */
export function sessionPage(
  user: InMemoryUser | undefined,
  options: Parameters<NonNullable<SessionService['listSessionPage']>>[0],
): Page<Session> {
  const { appName, userId, newestFirst = false } = options
  checkFilter({ appName, userId })
  const after = readPagePosition(options)
  const sessions = [...(user?.sessions.values() ?? [])]
  const all = sessions.sort((one, other) => one.order - other.order) // a copy has its place from its start on
  const isAfter = ({ order }: InMemorySession): boolean => after === 0 || (newestFirst ? order < after : order > after)
  return takePage((newestFirst ? all.reverse() : all).filter(isAfter), options, (session) => {
    const item = session.toSession([])
    return { item, position: session.order, bytes: sizeWithin(item.state, options) }
  })
}

/** A part of the sessions that retention may delete. */
export function prunablePage(app: InMemoryApp | undefined, filter: PruneFilter & PageOptions): Page<PrunableSession> {
  checkId('appName', filter.appName)
  const after = readPagePosition(filter)
  const found = prunable(app?.users.values() ?? [], filter)
    .filter(({ order }) => order > after)
    .sort((one, other) => one.order - other.order)
  return takePage(found, filter, (one) => {
    return { item: { ...one.key, updatedAt: one.updatedAt }, position: one.order, bytes: 0 }
  })
}

/** The sessions that a retention rule selects, of these users. */
function prunable(
  users: Iterable<{ readonly sessions: ReadonlyMap<string, InMemorySession> }>,
  { unchangedSince = Number.NEGATIVE_INFINITY, maxSessionsPerUser, withPending }: PruneFilter,
): InMemorySession[] {
  const found: InMemorySession[] = []
  for (const { sessions } of users) {
    const latestFirst = [...sessions.values()].sort((a, b) => b.updatedAt - a.updatedAt || b.order - a.order)
    for (const [place, session] of latestFirst.entries()) {
      const isOver = place >= (maxSessionsPerUser ?? latestFirst.length)
      const since = isOver ? Number.POSITIVE_INFINITY : unchangedSince
      if (isIdle(session, { unchangedSince: since, withPending })) found.push(session)
    }
  }
  return found
}

/** Does no process, client, approver or operator need the session? */
export function isIdle(session: InMemorySession, { unchangedSince, withPending }: IdleConditions): boolean {
  const { epoch, setAside, inbox, pending, updatedAt } = session
  const isFree = epoch === FREE && setAside === undefined && (inbox?.isEmpty ?? true)
  return isFree && (withPending || !pending) && updatedAt <= unchangedSince
}

/** The size of an item, if it matters for the page. */
export function sizeWithin(item: unknown, { maxBytes }: PageOptions): number {
  return maxBytes === undefined ? 0 : jsonSize(item, maxBytes)
}
