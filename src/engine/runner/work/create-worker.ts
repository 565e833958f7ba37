import type { WorkOptions } from '../runner-options.ts'
import type { SessionOperations } from '../sessions/session-operations.ts'
import { WorkFinder } from './find-work.ts'
import { OverdueRequests } from './overdue-requests.ts'
import { Worker, type WorkerParts } from './worker.ts'
import { startPresence } from './worker-presence.ts'

/** Whose work it is. */
interface Parts extends Pick<WorkerParts, 'starter' | 'filter'> {
  /** Finds requests and copies. */
  readonly sessions: Pick<SessionOperations, 'findPending' | 'removeUnfinishedCopies'>
}

/** Makes a worker of a runner. */
export function createWorker({ starter, sessions, filter }: Parts, options: WorkOptions): Worker {
  const schedules = starter.factory.services.scheduleService
  return new Worker({ starter, schedules, finder: workFinder({ starter, sessions }), filter }, options)
}

/** Works until the signal aborts. Operators see the worker meanwhile. */
export async function workUntilAborted(parts: Parts, options: WorkOptions): Promise<void> {
  const worker = createWorker(parts, options)
  const presence = startPresence(parts.starter.factory, { engine: 'store', label: options.label })
  try {
    await worker.work()
  } finally {
    await presence?.end()
  }
}

/** Finds what workers can do. */
export function workFinder({ starter, sessions }: Omit<Parts, 'filter'>): WorkFinder {
  const { appName, services } = starter.factory
  const { sessionService, ports, scheduleService: schedules } = services
  const findPending: SessionOperations['findPending'] = (matches) => sessions.findPending(matches)
  const removeCopies = (): Promise<void> => sessions.removeUnfinishedCopies()
  const overdue = new OverdueRequests({ appName, ports, sessionService, findPending })
  return new WorkFinder({ appName, services, schedules, overdue, removeCopies })
}
