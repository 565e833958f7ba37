import type { SessionKey } from '../../../services/session/service.ts'

/**
 * Schedules the runs of sessions over many workers. All an engine must do: call one worker at a time for a session, call another one if
 * that dies, and call one again at a later time. What is to be done is in the log, the inbox and the schedules.
 */
export interface SessionEngine {
  /** Has a worker continue the session. Rejects if the engine cannot be reached: then a worker finds the session by itself, later. */
  wake(session: SessionKey): Promise<void>
}
