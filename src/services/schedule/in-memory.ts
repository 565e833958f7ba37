import { copyJson } from '../../core/base/json.ts'
import { checkFilter, checkId } from '../session/check-key.ts'
import { readPagePosition, takePage } from '../session/page.ts'
import type { Page } from '../session/service.ts'
import { checkNewSchedule, checkSchedule } from './check-schedule.ts'
import type { ScheduleKey, ScheduleService, StoredSchedule } from './service.ts'

interface Kept {
  readonly schedule: StoredSchedule
  /** Its position among all schedules of the service. */
  readonly order: number
}

/**
 * Keeps schedules in the memory of this process.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, scheduleService: new InMemoryScheduleService() })
 */
export class InMemoryScheduleService implements ScheduleService {
  readonly #kept: Map<string, Kept> = new Map()
  #lastOrder = 0

  async getSchedule(key: ScheduleKey): Promise<StoredSchedule | undefined> {
    const kept = this.#kept.get(idOf(key))
    return kept && copyJson(kept.schedule)
  }

  async saveSchedule(schedule: StoredSchedule, expected: string | null): Promise<boolean> {
    checkSchedule(schedule)
    if (expected === null) checkNewSchedule(schedule)
    const id = idOf(schedule)
    const known = this.#kept.get(id)
    if ((known?.schedule.revision ?? null) !== expected) return false
    this.#kept.set(id, { schedule: copyJson(schedule), order: known?.order ?? ++this.#lastOrder })
    return true
  }

  async deleteSchedule(key: ScheduleKey, expected: string): Promise<boolean> {
    const id = idOf(key)
    return this.#kept.get(id)?.schedule.revision === expected && this.#kept.delete(id)
  }

  async listSchedules(filter: Parameters<ScheduleService['listSchedules']>[0]): Promise<Page<StoredSchedule>> {
    checkFilter(filter)
    const after = readPagePosition(filter)
    const { userId, sessionId } = filter
    const found = this.#of(filter.appName).filter(
      ({ schedule, order }) =>
        order > after &&
        (userId === undefined || schedule.userId === userId) &&
        (sessionId === undefined || schedule.sessionId === sessionId),
    )
    return takePage(found, filter, ({ schedule, order }) => {
      return { item: copyJson(schedule), position: order, bytes: JSON.stringify(schedule).length }
    })
  }

  async dueSchedules({
    appName,
    now,
    limit,
  }: Parameters<ScheduleService['dueSchedules']>[0]): Promise<StoredSchedule[]> {
    checkId('appName', appName)
    const due = this.#of(appName).filter(({ schedule }) => schedule.wakeAt <= now)
    due.sort((one, other) => one.schedule.wakeAt - other.schedule.wakeAt)
    return due.slice(0, limit).map(({ schedule }) => copyJson(schedule))
  }

  async deleteSession({ appName, userId, sessionId }: Parameters<ScheduleService['deleteSession']>[0]): Promise<void> {
    this.#delete((one) => one.appName === appName && one.userId === userId && one.sessionId === sessionId)
  }

  async deleteUser({ appName, userId }: Parameters<ScheduleService['deleteUser']>[0]): Promise<void> {
    this.#delete((one) => one.appName === appName && one.userId === userId)
  }

  #delete(isGone: (schedule: StoredSchedule) => boolean): void {
    for (const [id, { schedule }] of this.#kept) if (isGone(schedule)) this.#kept.delete(id)
  }

  #of(appName: string): Kept[] {
    return [...this.#kept.values()].filter(({ schedule }) => schedule.appName === appName)
  }
}

/** A key that is different for each app and id, whatever characters they contain. */
function idOf({ appName, id }: ScheduleKey): string {
  return JSON.stringify([appName, id])
}
