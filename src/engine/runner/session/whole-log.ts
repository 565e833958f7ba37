import type { Entry } from '../../../core/event/event.ts'
import type { ReadonlyView } from '../../agent/loop/session-view.ts'

/** The log of a held session. What is not in memory is read when it is needed. */
export interface WholeLog {
  /** The folded log. Its `events` are those in memory. */
  readonly view: ReadonlyView
  /** Reads the entries from `seq` on into memory. Undefined: they are there. */
  load(seq: number): Promise<void> | undefined
  /** All entries. From now on, all events are in memory. */
  allEntries(): Promise<readonly Entry[]>
}
