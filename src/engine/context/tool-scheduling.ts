import { ToolwrightError } from '../../core/error/error.ts'
import type { ScheduleTimes } from '../../services/schedule/schedule-times.ts'

/** How much a tool may schedule through its context. */
export interface SchedulingLimits {
  /** The most schedules of a user that tools have created and that have not ended. Default: 20. */
  readonly maxSchedules?: number | undefined
  /** The least time between two ticks, in milliseconds. Default: 60,000. */
  readonly minEveryMs?: number | undefined
}

/** What a tool schedules with `context.schedule()`. */
export interface ToolScheduleOptions extends ScheduleTimes {
  /** The text that starts each run. */
  readonly message: string
  /** Starts each run in a new session of the user. Default false: in the session of the call. */
  readonly newSession?: boolean | undefined
}

/** A schedule that a tool has created. */
export interface ToolSchedule {
  /** Identifies the schedule. */
  readonly id: string
  /** The next tick; undefined if there is none any more. */
  readonly nextAt: Date | undefined
}

/** The call that schedules. */
export interface SchedulingCall {
  /** The agent whose model made the call. */
  readonly agentName: string
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** Identifies the schedule over attempts of the call. */
  readonly key: string
}

/** Stores the schedules of tools, if the agent allows it. */
export interface ToolScheduling {
  /** Stores a schedule. One with the same key is kept or replaced. */
  schedule(call: SchedulingCall, options: ToolScheduleOptions): Promise<ToolSchedule>
  /** Deletes a schedule that a tool has created for this user. Returns whether there was one. */
  unschedule(call: SchedulingCall, id: string): Promise<boolean>
}

/** Throws if calls of this context have nowhere to store schedules. */
export function requireScheduling(scheduling: ToolScheduling | undefined): ToolScheduling {
  if (scheduling) return scheduling
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'This call cannot schedule runs: it belongs to no conversation of a Runner. Call runner.schedule() instead.',
  )
}
