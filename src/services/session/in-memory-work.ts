// What approvers, workers and operators look for among the sessions in memory. `now` is the time on the clock of leases.
import { copyJson } from '../../core/base/json.ts'
import { expiryOf, type PendingRequest } from '../../core/event/pending-request.ts'
import { checkFilter, checkId } from './check-key.ts'
import { sizeWithin } from './in-memory-lists.ts'
import { FREE, type InMemorySession, inOrder, type StoredRequest, stateOf } from './in-memory-session.ts'
import { readPagePosition, takePage } from './page.ts'
import type {
  FoundSession,
  Page,
  PageOptions,
  PendingSummary,
  SessionCounts,
  SessionFilter,
  SessionKey,
  SessionService,
  SetAsideSession,
} from './service.ts'

type PendingFilter = Parameters<SessionService['pending']>[0]

/** Lists the requests that the filter selects. */
export function listPending(sessions: Iterable<InMemorySession>, filter: PendingFilter): PendingRequest[] {
  return inOrder(pendingOf(sessions, filter)).map(({ request }) => copyJson(request))
}

/** A part of the requests that the filter selects. */
export function pendingPage(
  sessions: Iterable<InMemorySession>,
  filter: Parameters<NonNullable<SessionService['pendingPage']>>[0],
): Page<PendingRequest> {
  const after = readPagePosition(filter)
  const found = pendingOf(sessions, filter).filter(({ order }) => order > after)
  return takePage(inOrder(found), filter, ({ request, order }) => {
    return { item: copyJson(request), position: order, bytes: sizeWithin(request, filter) }
  })
}

/** How many requests there are, and which is the newest. */
export function pendingSummary(sessions: Iterable<InMemorySession>, filter: PendingFilter): PendingSummary {
  const found = pendingOf(sessions, filter)
  return { count: found.length, newest: found.reduce((newest, { order }) => Math.max(newest, order), 0) }
}

function pendingOf(sessions: Iterable<InMemorySession>, filter: PendingFilter): StoredRequest[] {
  checkFilter(filter)
  const { userId, sessionId } = filter
  const found: StoredRequest[] = []
  for (const { key, pending } of sessions) {
    if (!pending || (userId !== undefined && userId !== key.userId)) continue
    if (sessionId === undefined || sessionId === key.sessionId) found.push(...pending)
  }
  return found
}

/** The sessions with a request that has expired. */
export function overdueSessions(
  sessions: Iterable<InMemorySession>,
  { now, limit }: { readonly now: number; readonly limit: number },
): SessionKey[] {
  const found: SessionKey[] = []
  for (const { key, pending } of sessions) {
    if (found.length >= limit) break
    if (pending?.some(({ request }) => expiryOf(request) <= now)) found.push({ ...key })
  }
  return found
}

/** The sessions whose holder died or failed. */
export function interruptedSessions(sessions: Iterable<InMemorySession>, now: number): SessionKey[] {
  const found: SessionKey[] = []
  for (const { key, epoch, expiresAt } of sessions) {
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
  sessions: Iterable<InMemorySession>,
  filter: { appName: string; userId?: string | undefined } & PageOptions,
): Page<SetAsideSession> {
  checkFilter(filter)
  const { userId } = filter
  const after = readPagePosition(filter)
  const isOfUser = (key: SessionKey): boolean => userId === undefined || userId === key.userId
  const found = [...sessions]
    .filter(({ order, setAside, key }) => order > after && setAside !== undefined && isOfUser(key))
    .sort((one, other) => one.order - other.order)
  return takePage(found, filter, ({ key, setAside = '', order }) => {
    return { item: { ...key, reason: setAside }, position: order, bytes: 0 }
  })
}

/** A part of the sessions that the filter selects, the newest first. */
export function foundPage(
  sessions: Iterable<InMemorySession>,
  filter: SessionFilter & PageOptions,
  now: number,
): Page<FoundSession> {
  checkFilter(filter)
  const { userId, updatedSince = 0 } = filter
  const before = readPagePosition(filter) || Number.POSITIVE_INFINITY
  const found = [...sessions]
    .filter(({ order, key }) => order < before && (userId === undefined || userId === key.userId))
    .sort((one, other) => other.order - one.order)
  return takePage(found, filter, (session) => {
    const { key, updatedAt, log, order } = session
    if (updatedAt < updatedSince) return undefined
    return { item: { ...key, updatedAt, lastSeq: log.seq, state: stateOf(session, now) }, position: order, bytes: 0 }
  })
}

/** How many sessions are in which state. */
export function sessionCounts(sessions: Iterable<InMemorySession>, now: number): SessionCounts {
  const counts = { running: 0, interrupted: 0, setAside: 0, posted: 0, waiting: 0, idle: 0 }
  for (const session of sessions) counts[stateOf(session, now)]++
  return counts
}
