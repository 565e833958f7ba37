import type { State } from '../../context/context.ts'

/** The members of a live session that watchers, phases and patterns need at least. */
export interface WatchedSession {
  /** The state of the session. Writes are recorded. */
  readonly state: State
  /** Sends a text to the model. */
  send(input: string): unknown
}
