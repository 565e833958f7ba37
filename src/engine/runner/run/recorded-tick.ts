/** The tick of a schedule that a message belongs to. */
export interface Tick {
  /** The id of the event that records the message: a log has it once. */
  readonly eventId: string
  /** Whether a worker has tried to start it before, so that the log may have the message. */
  readonly isRetried: boolean
  /** Whether the session must exist. Else it is created. */
  readonly mustExist: boolean
}

/** The message of a tick is in the log: another worker has started its run. */
export class TickRecorded extends Error {}
