import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { Interrupts } from '../input/interrupts.ts'

/** The session of a turn, and how far it was shown. */
interface ShownSession {
  /** The user the session belongs to. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The last event that was shown. */
  readonly lastEventId: string
}

/**
 * Waits for the background calls of the session in this process, because their bodies end with the process. Returns a run with what
 * was recorded since the last event that was shown; undefined if nothing was. Ctrl+C cancels the calls.
 */
export async function nextBackgroundRun(
  runner: Runner,
  { userId, sessionId, lastEventId }: ShownSession,
  interrupts: Interrupts,
): Promise<Run | undefined> {
  const stopListening = interrupts.listen(() => {
    stopListening() // the next Ctrl+C exits
    runner.cancel({ userId, sessionId }).catch(() => {}) // the session shows what was cancelled
  })
  try {
    await runner.internals.backgroundOf({ userId, sessionId })
  } finally {
    stopListening()
  }
  const { appName, sessionService } = runner
  // a body may have ended before the wait: what the log says counts
  const session = await sessionService.getSession({ appName, userId, sessionId, config: { numRecentEvents: 1 } })
  const latest = session?.events.at(-1)
  if (!latest || latest.id === lastEventId) return undefined
  return runner.follow({ userId, sessionId, afterEventId: lastEventId })
}
