import type { SessionKey, SessionService } from './service.ts'

/** The part of a session service that finds sessions. */
export type FindsSessions = Pick<SessionService, 'getSession' | 'listSessions' | 'listSessionPage'>

/** What was deleted while work for a session was under way. */
export type Deleted = 'nothing' | 'session' | 'user'

/**
 * Tells what was deleted: the session, or all sessions of the user. A run that has stored something outside of the log asks
 * afterwards, and removes it again: the deletion may have looked before.
 */
export async function findDeleted(sessionService: FindsSessions, key: SessionKey): Promise<Deleted> {
  if (await sessionService.getSession({ ...key, config: { numRecentEvents: 0 } })) return 'nothing'
  return (await hasSessions(sessionService, key)) ? 'session' : 'user'
}

async function hasSessions(service: FindsSessions, { appName, userId }: SessionKey): Promise<boolean> {
  const page = await service.listSessionPage?.({ appName, userId, limit: 1 })
  return (page?.items ?? (await service.listSessions({ appName, userId }))).length > 0
}
