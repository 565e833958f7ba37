import { isUserFilename } from '../../../core/base/key-scope.ts'
import { yieldToTimers } from '../../../core/base/ports.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { checkUser } from '../../../services/session/check-key.ts'
import type { RunFactory } from '../run/run-factory.ts'
import type { RunServices } from '../run-services.ts'
import { deleteArtifacts } from './copy-artifacts.ts'
import { stopRunsOf } from './delete-session.ts'
import { type UserKey, userSessions } from './user-sessions.ts'

/**
 * Deletes all that the services hold for a user. Sessions go first: from then on no run can record anything, and what a run stores
 * elsewhere it removes again. After a failure it can be called again.
 */
export async function deleteUser(user: UserKey, factory: RunFactory): Promise<void> {
  checkUser(user)
  const { services } = factory
  const { sessionService, scheduleService, artifactService, memoryService } = services
  const deleteSessions = sessionService.deleteUser
  if (!deleteSessions) throw cannotDelete('session service', 'deleteUser()')
  if (!services.credentialService.list) throw cannotDelete('credential service', 'list()')
  const lacksArtifactDeletion = artifactService !== undefined && !artifactService.deleteUser
  if (lacksArtifactDeletion) await deleteListedArtifacts(user, services) // the list is gone with the sessions
  await scheduleService.deleteUser(user) // first: a schedule starts new sessions
  await deleteSessions.call(sessionService, user)
  stopRunsOf(factory, user)
  await artifactService?.deleteUser?.(user)
  await memoryService?.deleteUser(user)
  await deleteCredentials(user, services)
  await scheduleService.deleteUser(user) // what a run has scheduled before it ended
  await services.slots.deleteUser(user)
}

/** For stores that only delete one artifact at a time: artifacts of sessions that were deleted before are not found. */
async function deleteListedArtifacts(user: UserKey, services: RunServices): Promise<void> {
  const { artifactService, ports } = services
  if (!artifactService) return
  const anySession = { ...user, sessionId: 'any' } // names of the user are the same in all sessions
  for await (const { id } of userSessions(user, services))
    await deleteArtifacts({ ...user, sessionId: id }, artifactService, ports)
  for (const filename of await artifactService.listArtifactKeys(anySession))
    if (isUserFilename(filename)) await artifactService.deleteArtifact({ ...anySession, filename })
}

/** Deletes the credentials of a user, with open consents, refresh locks and registered clients. */
async function deleteCredentials(user: UserKey, { credentialService, ports }: RunServices): Promise<void> {
  for (const key of (await credentialService.list?.(user)) ?? []) {
    await credentialService.delete({ ...user, key })
    await yieldToTimers(ports)
  }
}

function cannotDelete(service: string, method: string): ToolwrightError {
  const problem = `The ${service} cannot delete what it has of a user: it has no ${method}`
  return new ToolwrightError('INVALID_CONFIG', `${problem}. Implement it, or use another store. Nothing was deleted.`)
}
