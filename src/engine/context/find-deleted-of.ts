import { loadLater } from '../../core/base/load-later.ts'
import type { Deleted } from '../../services/session/find-deleted.ts'
import type { InvocationHost } from './invocation-host.ts'

const deletions = loadLater(() => import('../../services/session/find-deleted.ts'))

/** Finds out what was deleted while the run is under way. Without a session service, nothing is. */
export async function findDeletedOf({ appName, userId, sessionId, sessionService }: InvocationHost): Promise<Deleted> {
  if (!sessionService) return 'nothing'
  const { findDeleted } = await deletions()
  return await findDeleted(sessionService, { appName, userId, sessionId })
}
