import type { SessionKey, SessionService } from '../../../services/session/service.ts'

/** What was deleted while work for a session was under way. */
export type Deleted = 'nothing' | 'session' | 'user'

/**
 * Tells what was deleted: the session, or all sessions of the user. A run that has stored something outside of the log asks
 * afterwards, and removes it again: the deletion may have looked before.
 */
export async function findDeleted(sessionService: SessionService, key: SessionKey): Promise<Deleted> {
  if (await sessionService.getSession({ ...key, config: { numRecentEvents: 0 } })) return 'nothing'
  return (await hasSessions(sessionService, key)) ? 'session' : 'user'
}

async function hasSessions(service: SessionService, { appName, userId }: SessionKey): Promise<boolean> {
  const page = await service.listSessionPage?.({ appName, userId, limit: 1 })
  return (page?.items ?? (await service.listSessions({ appName, userId }))).length > 0
}
