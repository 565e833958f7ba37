import { ToolwrightError } from '../../../core/error/error.ts'
import type { SessionKey, SessionService } from '../../../services/session/service.ts'

/** How many of the sessions that were set aside are read at a time. */
const PIECE = 1_000

/** Has workers continue a session that was set aside: forgets the processes that have died with it. */
export async function retrySession(sessionService: SessionService, key: SessionKey): Promise<void> {
  await sessionService.release(await sessionService.claim(key))
  await sessionService.release(await sessionService.claim(key), { interrupted: true })
}

/** Does so for an operator, who may name another session by mistake. Throws NOT_FOUND unless the session is set aside. */
export async function retrySetAside(sessionService: SessionService, key: SessionKey): Promise<void> {
  const { appName, userId, sessionId } = key
  let after: string | undefined
  do {
    const page = await sessionService.setAside?.({ appName, userId, limit: PIECE, after })
    if (page?.items.some((one) => one.sessionId === sessionId)) return await retrySession(sessionService, key)
    after = page?.next
  } while (after !== undefined)
  throw new ToolwrightError(
    'NOT_FOUND',
    `Session "${sessionId}" of this user is not set aside. Check the user and the session: \`toolwright fleet\` lists both.`,
  )
}
