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

/** Works until the signal aborts. Copies that a process did not complete are removed first. */
export async function startWorker({ starter, sessions, filter }: Parts, options: WorkOptions): Promise<void> {
  await sessions.removeUnfinishedCopies()
  const schedules = starter.factory.services.scheduleService
  const worker = new Worker({ starter, schedules, finder: workFinder({ starter, sessions }), filter }, options)
  // a server that works on some of the sessions is no worker for operators
  const presence = filter ? undefined : startPresence(starter.factory, { engine: 'store', label: options.label })
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
  const overdue = new OverdueRequests({ appName, ports, sessionService, findPending })
  return new WorkFinder({ appName, services, schedules, overdue })
}
