import { ToolwrightError } from '../../../core/error/error.ts'
import type { ScheduleService, StoredSchedule } from '../../../services/schedule/service.ts'
import { checkId } from '../../../services/session/check-key.ts'
import { readPagePosition } from '../../../services/session/page.ts'
import type { Page } from '../../../services/session/service.ts'
import { sessionNotFound } from '../../../services/session/session-errors.ts'
import type { RunServices } from '../run-services.ts'
import { type Schedule, type ScheduleOptions, type SchedulesFilter, toSchedule } from './schedule-options.ts'
import { isSameSchedule, toStoredSchedule } from './schedule-rules.ts'

/** How often a schedule is stored again because another process has changed it meanwhile. */
const MAX_TRIES = 10

/** What schedules are created and listed with. */
export interface ScheduleParts {
  /** The app. */
  readonly appName: string
  /** The services of the runner. */
  readonly services: Pick<RunServices, 'sessionService' | 'scheduleService' | 'ports' | 'maxResultBytes'>
}

/**
 * Stores a schedule. One with the same id is replaced, unless it would do the same. `ofSession`: the session that must exist, with which
 * its schedules are deleted. Default: that of the runs.
 */
export async function createSchedule(
  options: ScheduleOptions,
  parts: ScheduleParts,
  ofSession: string | undefined = options.sessionId,
): Promise<Schedule> {
  const { appName, services } = parts
  const made = await toStoredSchedule(appName, options, services)
  if (ofSession === undefined) return toSchedule(await store(made, services.scheduleService))
  const key = { appName, userId: made.userId, sessionId: ofSession }
  const exists = async (): Promise<boolean> =>
    (await services.sessionService.getSession({ ...key, config: { numRecentEvents: 0 } })) !== undefined
  if (!(await exists())) throw sessionNotFound(ofSession)
  const stored = await store(made, services.scheduleService)
  if (await exists()) return toSchedule(stored)
  await deleteSchedule(stored.id, made.userId, parts) // the deletion may have looked for schedules before
  throw sessionNotFound(ofSession)
}

async function store(made: StoredSchedule, schedules: ScheduleService): Promise<StoredSchedule> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = await schedules.getSchedule(made)
    if (stored && stored.userId !== made.userId) throw takenError(made.id)
    if (stored && stored.state.type !== 'ended' && isSameSchedule(stored, made)) return stored
    if (await schedules.saveSchedule(made, stored?.revision ?? null)) return made
  }
  throw new ToolwrightError(
    'STORAGE',
    `Schedule "${made.id}" was changed by other processes ${MAX_TRIES} times while it was stored. Try again.`,
  )
}

function takenError(id: string): ToolwrightError {
  return new ToolwrightError(
    'ALREADY_EXISTS',
    `Schedule "${id}" belongs to another user. Use another id, such as one with the id of the user in it.`,
  )
}

/** A part of the schedules of an app, in the order of their creation. */
export async function listSchedules(
  filter: SchedulesFilter,
  { appName, services }: ScheduleParts,
): Promise<Page<Schedule>> {
  const { userId, sessionId, limit = 100, after } = filter
  readPagePosition({ limit, after })
  const page = await services.scheduleService.listSchedules({ appName, userId, sessionId, limit, after })
  return { ...page, items: page.items.map(toSchedule) }
}

/** Deletes a schedule, if it belongs to the user. A run that it has started goes on. Returns whether there was one. */
export async function deleteSchedule(
  id: string,
  userId: string | undefined,
  { appName, services }: ScheduleParts,
): Promise<boolean> {
  checkId('The id of a schedule', id)
  const { scheduleService } = services
  for (;;) {
    const stored = await scheduleService.getSchedule({ appName, id })
    if (!stored || (userId !== undefined && stored.userId !== userId)) return false
    if (await scheduleService.deleteSchedule(stored, stored.revision)) return true
  }
}
