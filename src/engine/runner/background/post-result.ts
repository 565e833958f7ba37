import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { BackgroundOutcome } from '../../dispatch/background-result.ts'
import type { RunServices } from '../run-services.ts'
import type { Attempt } from './begin-attempt.ts'

/** How often a result is posted again while the store is away, and how long to wait before the last time, in milliseconds. */
const TIMES = 30
const MAX_WAIT_MS = 5_000

/** Posts the result of an attempt. The store may be away for a while: what an `atMostOnce` body has done must not get lost. */
export async function postResult(
  { sessionService, ports, logger }: Pick<RunServices, 'sessionService' | 'ports' | 'logger'>,
  key: SessionKey,
  { id: attemptId, callId }: Attempt,
  { response, stateDelta }: BackgroundOutcome,
): Promise<void> {
  // the same for each time: a post whose reply was lost counts once
  const item = {
    id: `result-${attemptId}`,
    type: 'result' as const,
    postedAt: ports.now(),
    callId,
    response,
    ...(stateDelta && { stateDelta }),
  }
  for (let time = 1, waitMs = 100; ; time++, waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      await sessionService.post(key, item)
      return
    } catch (error) {
      if (error instanceof ToolwrightError && error.code === 'NOT_FOUND') return // the session was deleted
      if (time >= TIMES) throw error
      if (time === 1)
        logger.warn(`The result of background call "${callId}" is posted again: ${messageOf(error)}`, error)
      await new Promise<void>((resolve) => void ports.setTimer(resolve, waitMs))
    }
  }
}
