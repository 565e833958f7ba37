import type { SessionKey, SessionService } from '../../../services/session/service.ts'

/** Has workers continue a session that was set aside: forgets the processes that have died with it. */
export async function retrySession(sessionService: SessionService, key: SessionKey): Promise<void> {
  await sessionService.release(await sessionService.claim(key))
  await sessionService.release(await sessionService.claim(key), { interrupted: true })
}
