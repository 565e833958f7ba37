import { loadLater } from '../../../core/base/load-later.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Page } from '../../../services/session/service.ts'
import type { ToolScheduling } from '../../context/tool-scheduling.ts'
import type { RecoveredRuns } from '../run/run-handle.ts'
import type { RunStarter } from '../run/run-starter.ts'
import type { RecoverOptions, WorkOptions } from '../runner-options.ts'
import type { ScheduleParts } from '../schedules/schedule-operations.ts'
import type { Schedule, ScheduleOptions, SchedulesFilter } from '../schedules/schedule-options.ts'
import type { SessionOperations } from '../sessions/session-operations.ts'
import type { WorkFinder } from './find-work.ts'
import type { WorkFilter } from './work-item.ts'
import type { Worker } from './worker.ts'

const NO_SIGNAL = 'runner.work() needs `signal`, which ends the work: new AbortController().signal.'

const recovering = loadLater(() => import('../run/recover-runs.ts'))
const scheduling = loadLater(() => import('../schedules/schedule-operations.ts'))
const toolScheduling = loadLater(() => import('../schedules/tool-schedules.ts'))
const working = loadLater(() => import('./create-worker.ts'))

/** What a runner does without a caller: it continues sessions, and runs what is scheduled. */
export class UnattendedWork {
  readonly #starter: RunStarter
  readonly #sessions: SessionOperations

  constructor(starter: RunStarter, sessions: SessionOperations) {
    this.#starter = starter
    this.#sessions = sessions
  }

  /** Continues all interrupted invocations, and those whose requests have expired. */
  async recover(options: RecoverOptions, isOverdue: (request: PendingRequest) => boolean): Promise<RecoveredRuns> {
    const { recoverRuns } = await recovering()
    const removing = this.#sessions.removeUnfinishedCopies()
    const runs = await recoverRuns(this.#starter, {
      ...options,
      findLate: () => this.#sessions.findPending(isOverdue),
      canceller: this.#sessions,
    })
    await removing
    return runs
  }

  /** Continues sessions until the signal aborts. */
  async work(options: WorkOptions): Promise<void> {
    this.#throwIfRefused(options)
    const { workUntilAborted } = await working()
    await workUntilAborted({ starter: this.#starter, sessions: this.#sessions }, options)
  }

  /** Makes a worker that does only what the filter selects. */
  async worker(options: WorkOptions, filter: WorkFilter): Promise<Worker> {
    this.#throwIfRefused(options)
    const { createWorker } = await working()
    return createWorker({ starter: this.#starter, sessions: this.#sessions, filter }, options)
  }

  #throwIfRefused({ signal }: WorkOptions): void {
    this.#starter.factory.throwIfClosed()
    if (!signal) throw new ToolwrightError('INVALID_REQUEST', NO_SIGNAL) // without types
  }

  /** Finds what workers can do. */
  async finder(): Promise<WorkFinder> {
    const { workFinder } = await working()
    return workFinder({ starter: this.#starter, sessions: this.#sessions })
  }

  /** Stores a schedule. */
  async schedule(options: ScheduleOptions): Promise<Schedule> {
    const { createSchedule } = await scheduling()
    return await createSchedule(options, this.#parts)
  }

  /** A part of the schedules. */
  async schedules(filter: SchedulesFilter): Promise<Page<Schedule>> {
    const { listSchedules } = await scheduling()
    return await listSchedules(filter, this.#parts)
  }

  /** Deletes a schedule. */
  async unschedule(id: string, userId: string | undefined): Promise<boolean> {
    const { deleteSchedule } = await scheduling()
    return await deleteSchedule(id, userId, this.#parts)
  }

  /** What tools schedule through their context. */
  get ofTools(): ToolScheduling {
    const { factory } = this.#starter
    return {
      schedule: async (call, options) => (await toolScheduling()).scheduleForTool(call, options, factory),
      unschedule: async (call, id) => (await toolScheduling()).unscheduleForTool(call, id, factory),
    }
  }

  get #parts(): ScheduleParts {
    return this.#starter.factory
  }
}
