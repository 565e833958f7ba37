import { FREE, type InMemorySession } from './in-memory-session.ts'
import type { IdleConditions, PruneFilter } from './service.ts'

/** The sessions that a retention rule selects, of these users. */
export function prunable(
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
