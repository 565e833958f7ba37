import type { SessionKey } from '../../../services/session/service.ts'

/** A background call of a session. */
export interface SessionCall {
  /** The session. */
  readonly session: SessionKey
  /** The id of the call, different for each call of the session. */
  readonly callId: string
}

/**
 * Schedules the runs of sessions over many workers. All an engine must do: call one worker at a time for a session, call another one if
 * that dies, and call one again at a later time. What is to be done is in the log, the inbox and the schedules.
 */
export interface SessionEngine {
  /** Has a worker continue the session. Rejects if the engine cannot be reached: then a worker finds the session by itself, later. */
  wake(session: SessionKey): Promise<void>
  /**
   * Has a worker run the body of a background call. The engine calls one worker at a time for a call, and another one if that dies. It may
   * be asked about a call again, also when its body runs or has ended. Rejects if the engine cannot be reached: then it is asked again.
   * Optional: without it, a body runs in the process that dispatched its call.
   */
  runBackground?(call: SessionCall): Promise<void>
}
