// What workers and operators look for among the sessions in memory. `now` is the time on the clock of leases.
import { checkFilter, checkId } from './check-key.ts'
import { FREE, type InMemorySession, stateOf } from './in-memory-session.ts'
import type { InMemoryUsers } from './in-memory-users.ts'
import { readPagePosition, takePage } from './page.ts'
import type { Page, PageOptions, SessionCounts, SessionKey, SetAsideSession } from './service.ts'

/** The sessions whose holder died or failed. */
export function interruptedSessions(users: InMemoryUsers, appName: string, now: number): SessionKey[] {
  checkId('appName', appName)
  const found: SessionKey[] = []
  for (const { key, epoch, expiresAt } of users.sessionsOf(appName)) {
    if (epoch !== FREE && now >= expiresAt) found.push({ ...key })
  }
  return found
}

/** The sessions without a holder that have inbox items. */
export function postedSessions(
  posted: Iterable<InMemorySession>,
  { appName, limit }: { readonly appName: string; readonly limit: number },
  now: number,
): SessionKey[] {
  checkId('appName', appName)
  const found: SessionKey[] = []
  for (const { key, epoch, expiresAt, setAside } of posted) {
    if (found.length >= limit) break
    if (key.appName !== appName || setAside !== undefined) continue
    if (epoch === FREE || now >= expiresAt) found.push({ ...key })
  }
  return found
}

/** A part of the sessions that no worker continues by itself. */
export function setAsidePage(
  users: InMemoryUsers,
  filter: { appName: string; userId?: string | undefined } & PageOptions,
): Page<SetAsideSession> {
  checkFilter(filter)
  const { appName, userId } = filter
  const after = readPagePosition(filter)
  const isOfUser = (key: SessionKey): boolean => userId === undefined || userId === key.userId
  const found = [...users.sessionsOf(appName)]
    .filter(({ order, setAside, key }) => order > after && setAside !== undefined && isOfUser(key))
    .sort((one, other) => one.order - other.order)
  return takePage(found, filter, ({ key, setAside = '', order }) => {
    return { item: { ...key, reason: setAside }, position: order, bytes: 0 }
  })
}

/** How many sessions are in which state. */
export function sessionCounts(users: InMemoryUsers, appName: string, now: number): SessionCounts {
  checkId('appName', appName)
  const counts = { running: 0, interrupted: 0, setAside: 0, posted: 0, waiting: 0, idle: 0 }
  for (const session of users.sessionsOf(appName)) counts[stateOf(session, now)]++
  return counts
}
