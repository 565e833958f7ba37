import type { ScheduleService } from '../../../services/schedule/service.ts'
import type { RunServices } from '../run-services.ts'
import type { OverdueRequests } from './overdue-requests.ts'
import { itemKeyOf, tickItem, type WorkItem } from './work-item.ts'

/** The most sessions and schedules of one kind that are read at once, besides those that are tried already. */
const LIMIT = 500

/** How often copies are looked for, in milliseconds: they live as long as a lease after their process. */
const COPIES_MS = 30_000

interface Parts {
  /** The app. */
  readonly appName: string
  /** The services of the runner. */
  readonly services: Pick<RunServices, 'sessionService' | 'ports'>
  /** Stores schedules. */
  readonly schedules: ScheduleService
  /** Finds expired requests. */
  readonly overdue: OverdueRequests
  /** Removes copies that a process did not complete. */
  readonly removeCopies: () => Promise<void>
}

/** Finds what a worker can do: interrupted runs, posted answers, expired requests, and schedules that are due. */
export class WorkFinder {
  readonly #parts: Parts
  #copiesDueAt: number = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The work there is now, each session once. `tried`: how many sessions the worker has tried already, and leaves out. */
  async find(tried: number): Promise<WorkItem[]> {
    const { appName, services, schedules, overdue } = this.#parts
    const { sessionService, ports } = services
    const limit = LIMIT + tried
    await this.#removeCopies()
    const [interrupted, posted = [], late, due] = await Promise.all([
      sessionService.interrupted({ appName }),
      sessionService.withInbox?.({ appName, limit }),
      overdue.find(limit),
      schedules.dueSchedules({ appName, now: ports.now(), limit }),
    ])
    const items: WorkItem[] = [
      ...interrupted.map(({ userId, sessionId }) => ({ type: 'interrupted' as const, userId, sessionId })),
      ...late.map(({ userId, sessionId }) => ({ type: 'overdue' as const, userId, sessionId })),
      ...posted.map(({ userId, sessionId }) => ({ type: 'posted' as const, userId, sessionId })),
      ...due.map(tickItem),
    ]
    const found = new Map<string, WorkItem>()
    for (const item of items) if (!found.has(itemKeyOf(item))) found.set(itemKeyOf(item), item)
    return [...found.values()]
  }

  /** Copies that a process did not complete are no work of a user: workers remove them now and then. */
  async #removeCopies(): Promise<void> {
    const now = this.#parts.services.ports.monotonicNow()
    if (now < this.#copiesDueAt) return
    await this.#parts.removeCopies()
    this.#copiesDueAt = now + COPIES_MS
  }
}
