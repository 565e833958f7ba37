import type { Message } from '../../../core/content/content.ts'
import type { ScheduleTimes } from '../../../services/schedule/schedule-times.ts'
import type { ScheduleEnd, ScheduleTiming, StoredSchedule } from '../../../services/schedule/service.ts'

/** Options of `runner.schedule()`. */
export interface ScheduleOptions extends ScheduleTimes {
  /** The user whose sessions the runs belong to. */
  readonly userId: string
  /** The session of all runs. It must exist. Default: each run has a new session. */
  readonly sessionId?: string | undefined
  /** Text or parts that start each run. */
  readonly message: Message
  /** Identifies the schedule in its app. A schedule with this id is replaced, unless it is equal. Default: a random id. */
  readonly id?: string | undefined
}

/** Which schedules `runner.schedules()` lists. */
export interface SchedulesFilter {
  /** Only those of this user. */
  readonly userId?: string | undefined
  /** Only those of this session. */
  readonly sessionId?: string | undefined
  /** The most schedules. Default: 100. */
  readonly limit?: number | undefined
  /** Where the page starts: `next` of the page before. */
  readonly after?: string | undefined
}

/** A message that starts runs at given times. */
export interface Schedule {
  /** Identifies the schedule in its app. */
  readonly id: string
  /** The user whose sessions the runs belong to. */
  readonly userId: string
  /** The session of all runs; undefined if each run has a new one. */
  readonly sessionId: string | undefined
  /** What starts each run. */
  readonly message: StoredSchedule['message']
  /** When runs start. */
  readonly timing: ScheduleTiming
  /** What happens to ticks at which no worker was there. */
  readonly missed: 'skip' | 'once' | 'all'
  /** The next tick, or the one that waits to start; undefined if the schedule has ended. */
  readonly nextAt: Date | undefined
  /** Why the tick in `nextAt` has not started although its time has come: its session is in use or paused, or something failed. */
  readonly delayed: string | undefined
  /** Why the schedule starts no more runs; undefined while it does. */
  readonly ended: ScheduleEnd | undefined
  /** The latest tick that started a run, and the session of that run. */
  readonly last: { readonly at: Date; readonly sessionId: string } | undefined
}

/** The schedule as callers see it. */
export function toSchedule({ id, userId, sessionId, message, timing, missed, state, last }: StoredSchedule): Schedule {
  return {
    id,
    userId,
    sessionId,
    message,
    timing,
    missed,
    nextAt: state.type === 'ended' ? undefined : new Date(state.tick),
    delayed: state.type === 'delayed' ? state.reason : undefined,
    ended: state.type === 'ended' ? state.reason : undefined,
    last: last && { at: new Date(last.tick), sessionId: last.sessionId },
  }
}
