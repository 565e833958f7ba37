import type { RunProgress } from '../../agent/loop/run-host.ts'

/** What changes while a run is under way. */
export interface RunnerProgress extends RunProgress {
  /** The user's message is recorded and the loop has started. */
  hasStarted: boolean
  /** The run drains no more inbox items: they are for the next run of the session. */
  isFinalizing: boolean
  /** Inbox items to remove with the user's message, or with the append that ends the run. */
  drained: readonly string[] | undefined
}
