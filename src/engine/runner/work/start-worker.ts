import type { WorkOptions } from '../runner-options.ts'
import type { SessionOperations } from '../sessions/session-operations.ts'
import { WorkFinder } from './find-work.ts'
import { OverdueRequests } from './overdue-requests.ts'
import { Worker, type WorkerParts } from './worker.ts'

/** Whose work it is. */
interface Parts extends Pick<WorkerParts, 'starter' | 'filter'> {
  /** Finds requests and copies. */
  readonly sessions: Pick<SessionOperations, 'findPending' | 'removeUnfinishedCopies'>
}

/** Works until the signal aborts. Copies that a process did not complete are removed first. */
export async function startWorker({ starter, sessions, filter }: Parts, options: WorkOptions): Promise<void> {
  const { appName, services } = starter.factory
  const { sessionService, ports, scheduleService: schedules } = services
  await sessions.removeUnfinishedCopies()
  const findPending: SessionOperations['findPending'] = (matches) => sessions.findPending(matches)
  const overdue = new OverdueRequests({ appName, ports, sessionService, findPending })
  const finder = new WorkFinder({ appName, services, schedules, overdue })
  await new Worker({ starter, schedules, finder, filter }, options).work()
}
