import type { Content } from '../../core/content/content.ts'
import type { Page, PageOptions } from '../session/service.ts'

/** When a schedule starts runs. Times are milliseconds since the epoch. */
export type ScheduleTiming =
  | { readonly type: 'at'; readonly at: number }
  | { readonly type: 'every'; readonly everyMs: number; readonly from: number }
  | { readonly type: 'cron'; readonly cron: string; readonly timeZone: string }

/** Why a schedule starts no more runs. */
export type ScheduleEnd =
  /** Its only tick, or its last one, was done. */
  | 'completed'
  /** Its only tick was missed, and `missed` is `skip`. */
  | 'missed'
  /** Its session was deleted. */
  | 'session-deleted'
  /** Its only tick could not start a run. */
  | 'failed'

/** What a schedule does next. A tick is a time at which it starts a run, in milliseconds since the epoch. */
export type ScheduleState =
  /** The next tick has not come, or no worker has claimed it. */
  | { readonly type: 'waiting'; readonly tick: number }
  /** A worker starts the run of the tick. `attempt` counts from 1. */
  | { readonly type: 'starting'; readonly tick: number; readonly attempt: number; readonly failures: number }
  /** The run of the tick could not start: its session was in use or paused, or something failed. */
  | {
      readonly type: 'delayed'
      readonly tick: number
      readonly attempt: number
      readonly failures: number
      readonly reason: string
    }
  | { readonly type: 'ended'; readonly reason: ScheduleEnd; readonly detail?: string }

/** A schedule as it is stored: a message that starts runs at given times. It is JSON. */
export interface StoredSchedule {
  /** The app. */
  readonly appName: string
  /** Identifies the schedule in its app. */
  readonly id: string
  /** The user whose sessions the runs belong to. */
  readonly userId: string
  /** The session of the runs. Absent: each run has a new session. */
  readonly sessionId?: string
  /** Different for each schedule that was ever created, also under the same id. */
  readonly uid: string
  /** What starts each run. */
  readonly message: Content
  /** When runs start. */
  readonly timing: ScheduleTiming
  /** What happens to ticks at which no worker was there. */
  readonly missed: 'skip' | 'once' | 'all'
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number
  /** What it does next. */
  readonly state: ScheduleState
  /** When a worker has to look at it, in milliseconds since the epoch. */
  readonly wakeAt: number
  /** The latest tick that started a run, and its session. */
  readonly last?: { readonly tick: number; readonly sessionId: string }
  /** Different for each stored version of the schedule. */
  readonly revision: string
}

/** Identifies a schedule. */
export interface ScheduleKey {
  /** The app. */
  readonly appName: string
  /** The schedule. */
  readonly id: string
}

/**
 * Stores schedules. The runner decides what is in them; a store only compares revisions. Errors are `ToolwrightError`s with the
 * codes INVALID_REQUEST and STORAGE.
 */
export interface ScheduleService {
  /** A schedule; undefined if there is none. */
  getSchedule(key: ScheduleKey): Promise<StoredSchedule | undefined>
  /**
   * Stores a schedule if the stored one has the revision `expected`; null expects none. Returns whether it is stored. Two calls that
   * expect the same revision never both return true, over any number of processes.
   */
  saveSchedule(schedule: StoredSchedule, expected: string | null): Promise<boolean>
  /** Deletes a schedule if it has the revision `expected`. Returns whether there was one. */
  deleteSchedule(key: ScheduleKey, expected: string): Promise<boolean>
  /** A part of the schedules, in the order of their creation. */
  listSchedules(
    filter: { appName: string; userId?: string | undefined; sessionId?: string | undefined } & PageOptions,
  ): Promise<Page<StoredSchedule>>
  /** Schedules whose `wakeAt` is not after `now`, the earliest first. */
  dueSchedules(filter: { appName: string; now: number; limit: number }): Promise<StoredSchedule[]>
  /** Deletes the schedules of a session. */
  deleteSession(key: { appName: string; userId: string; sessionId: string }): Promise<void>
  /** Deletes the schedules of a user. */
  deleteUser(user: { appName: string; userId: string }): Promise<void>
}
