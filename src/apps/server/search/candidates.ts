import { ToolwrightError } from '../../../core/error/error.ts'
import type {
  FoundSession,
  Page,
  PageOptions,
  Session,
  SessionKey,
  SessionService,
} from '../../../services/session/service.ts'
import { sessionSource } from '../pages/list-sources.ts'

/** Which sessions may be in a list. */
export interface CandidateFilter {
  /** The app. */
  readonly appName: string
  /** The user; undefined for all users. */
  readonly userId: string | undefined
  /** One session of the user. */
  readonly sessionId?: string | undefined
  /** Changed at this time or later, in seconds since the epoch. */
  readonly since?: number
}

/** A part of the sessions of an app, or of a user, the newest first. A store without `findSessions` only lists those of one user. */
export async function findCandidates(
  service: SessionService,
  { appName, userId, sessionId, since = 0 }: CandidateFilter,
  page: PageOptions,
): Promise<Page<FoundSession>> {
  const isOne = userId !== undefined && sessionId !== undefined
  if (service.findSessions && !isOne)
    return await service.findSessions({ appName, userId, updatedSince: since * 1000, ...page })
  if (userId === undefined)
    throw new ToolwrightError('NOT_FOUND', 'The session service of the app has no findSessions(). Name a user.')
  const user = { appName, userId }
  const { items, next } = isOne ? await findOne(service, { ...user, sessionId }) : await listAll(service, user, page)
  const waiting = new Set((await service.pending({ ...user, sessionId })).map((request) => request.sessionId))
  const found = items
    .filter(({ lastUpdateTime }) => lastUpdateTime >= since)
    .map(async ({ id, lastUpdateTime }): Promise<FoundSession> => {
      const key = { ...user, sessionId: id }
      const lastSeq = (await service.readLog?.({ ...key, limit: 0 }))?.lastSeq ?? 0
      return { ...key, updatedAt: lastUpdateTime * 1000, lastSeq, state: waiting.has(id) ? 'waiting' : 'idle' }
    })
  return { items: await Promise.all(found), ...(next !== undefined && { next }) }
}

async function findOne(service: SessionService, key: SessionKey): Promise<Page<Session>> {
  const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } })
  return { items: session ? [session] : [] }
}

function listAll(
  service: SessionService,
  user: { readonly appName: string; readonly userId: string },
  page: PageOptions,
): Promise<Page<Session>> {
  return sessionSource(service, { ...user, newestFirst: true }, () => true).read(page)
}
