import type { SessionLog } from './session-log.ts'

/** What every tab of a session gets. */
export interface SessionTabProps {
  /** The log of the session: its entries, the run under way, and how to send messages. */
  readonly log: SessionLog
}
