// The pending requests of sessions in memory.
import { copyJson } from '../../core/base/json.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { checkFilter } from './check-key.ts'
import { sizeWithin } from './in-memory-lists.ts'
import { inOrder, type StoredRequest } from './in-memory-session.ts'
import type { InMemoryUsers } from './in-memory-users.ts'
import { readPagePosition, takePage } from './page.ts'
import type { Page, PendingSummary, SessionService } from './service.ts'

type Filter = Parameters<SessionService['pending']>[0]

/** Lists the requests that the filter selects. */
export function listPending(users: InMemoryUsers, filter: Filter): PendingRequest[] {
  return inOrder(pendingOf(users, filter)).map(({ request }) => copyJson(request))
}

/** A part of the requests that the filter selects. */
export function pendingPage(
  users: InMemoryUsers,
  filter: Parameters<NonNullable<SessionService['pendingPage']>>[0],
): Page<PendingRequest> {
  const after = readPagePosition(filter)
  const found = pendingOf(users, filter).filter(({ order }) => order > after)
  return takePage(inOrder(found), filter, ({ request, order }) => {
    return { item: copyJson(request), position: order, bytes: sizeWithin(request, filter) }
  })
}

/** How many requests there are, and which is the newest. */
export function pendingSummary(users: InMemoryUsers, filter: Filter): PendingSummary {
  const found = pendingOf(users, filter)
  return { count: found.length, newest: found.reduce((newest, { order }) => Math.max(newest, order), 0) }
}

function pendingOf(users: InMemoryUsers, filter: Filter): StoredRequest[] {
  checkFilter(filter)
  const { userId, sessionId } = filter
  const found: StoredRequest[] = []
  for (const { key, pending } of users.sessionsOf(filter.appName)) {
    if (!pending || (userId !== undefined && userId !== key.userId)) continue
    if (sessionId === undefined || sessionId === key.sessionId) found.push(...pending)
  }
  return found
}
