import type { StoredSchedule } from '../../../services/schedule/service.ts'
import { sessionOfTick } from '../schedules/start-tick.ts'

/** A session of the app. */
export interface SessionOfApp {
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
}

/** Something that a worker can do. */
export type WorkItem = SessionOfApp &
  (
    | { readonly type: 'interrupted' | 'overdue' | 'posted' }
    /** The schedule is due. */
    | { readonly type: 'tick'; readonly schedule: StoredSchedule }
  )

/** Which work a worker does, if not all. */
export interface WorkFilter {
  /** Selects what the worker does. */
  select(items: readonly WorkItem[]): Promise<readonly WorkItem[]>
  /** Called when its run has started. */
  onStarted(item: WorkItem): void
}

/** A key that is different for each session, whatever characters the ids contain. */
export function keyOf({ userId, sessionId }: SessionOfApp): string {
  return JSON.stringify([userId, sessionId])
}

/** The tick of a schedule that is due. */
export function tickItem(schedule: StoredSchedule): WorkItem {
  return { type: 'tick', userId: schedule.userId, sessionId: sessionOfTick(schedule), schedule }
}

/** Identifies an item. A tick that cannot start must not keep other work from its session. */
export function itemKeyOf(item: WorkItem): string {
  return item.type === 'tick' ? `tick ${item.schedule.id}` : keyOf(item)
}
