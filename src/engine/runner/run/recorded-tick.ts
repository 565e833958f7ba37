import type { ScheduleKey } from '../../../services/schedule/service.ts'

/** The tick of a schedule that a message belongs to. */
export interface Tick {
  /** The schedule as this worker has claimed it. */
  readonly claim: ScheduleKey & { readonly revision: string }
  /** The id of the event that records the message: a log has it once. */
  readonly eventId: string
  /** Whether a worker has tried to start it before, so that the log may have the message. */
  readonly isRetried: boolean
  /** Whether the session must exist. Else it is created. */
  readonly mustExist: boolean
}

/** The message of a tick is in the log: another worker has started its run. */
export class TickRecorded extends Error {}

/** The claim of the tick no longer counts: its schedule was deleted or replaced, or another worker has claimed the tick. */
export class TickLost extends Error {}
