import { messageOf } from '../../../core/error/error.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'

/** Has a worker continue a session now. What is stored is found later, too, if the engine is away. */
export async function wakeWorker(
  { engine, logger }: Pick<RunServices, 'engine' | 'logger'>,
  session: SessionKey,
): Promise<void> {
  await engine?.wake(session).catch((error: unknown) => {
    logger.warn(`Session "${session.sessionId}" could not be woken, and waits for a worker: ${messageOf(error)}`, error)
  })
}
