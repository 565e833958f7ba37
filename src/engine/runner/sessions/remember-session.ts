import type { MemoryService } from '../../../services/memory/service.ts'
import type { Session, SessionService } from '../../../services/session/service.ts'

/**
 * Adds a session to the memory of its user. Returns false if the session was deleted meanwhile: it is removed again, because the deletion
 * may have looked before.
 */
export async function rememberSession(
  session: Session,
  { sessionService, memoryService }: { readonly sessionService: SessionService; readonly memoryService: MemoryService },
): Promise<boolean> {
  const { appName, userId, id: sessionId } = session
  const key = { appName, userId, sessionId }
  await memoryService.addSessionToMemory(session)
  if (await sessionService.getSession({ ...key, config: { numRecentEvents: 0 } })) return true
  await memoryService.deleteSession(key)
  return false
}
