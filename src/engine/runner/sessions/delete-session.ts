import { messageOf } from '../../../core/error/error.ts'
import { forgetConsent } from '../../../services/auth/consent/consent-record.ts'
import { checkKey } from '../../../services/session/check-key.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import { sessionGone } from '../../../services/session/session-errors.ts'
import type { RunFactory } from '../run/run-factory.ts'
import type { RunServices } from '../run-services.ts'
import { deleteArtifacts } from './copy-artifacts.ts'

/**
 * Deletes a session with what other stores hold for it: open consents, schedules, artifacts and memory. Those of the user stay. After a failure
 * it can be called again: consents are found through the session, so they go first, and the rest through its id, also later.
 */
export async function deleteSession(key: SessionKey, factory: RunFactory): Promise<void> {
  const { services } = factory
  checkKey(key) // without a session id, the requests of all sessions would be found
  await forgetOpenConsents(key, services)
  await services.sessionService.deleteSession(key)
  stopRunsOf(factory, key)
  await deleteOutsideLog(key, services)
}

/** Deletes what a session has in other stores than the one of its log. */
export async function deleteOutsideLog(key: SessionKey, services: RunServices): Promise<void> {
  const { scheduleService, artifactService, memoryService, ports } = services
  await scheduleService.deleteSession(key)
  if (artifactService?.deleteSession) await artifactService.deleteSession(key)
  else if (artifactService) await deleteArtifacts(key, artifactService, ports)
  await memoryService?.deleteSession(key)
}

/** Stops the runs and the background calls of this process in a session that is gone, or in all sessions of a user. */
export function stopRunsOf(
  { running, services }: RunFactory,
  deleted: { readonly userId: string; readonly sessionId?: string },
): void {
  const { userId, sessionId } = deleted
  for (const run of running.all()) {
    if (run.userId === userId && (sessionId ?? run.sessionId) === run.sessionId) run.stop(sessionGone(run.sessionId))
  }
  services.background?.stopAll(deleted)
}

/** Forgets the consents that a session waits for. A session whose requests cannot be read can still be deleted. */
export async function forgetOpenConsents(key: SessionKey, services: RunServices): Promise<void> {
  const { appName, userId, sessionId } = key
  const { sessionService, credentialService, auth, logger } = services
  try {
    for (const { kind, id } of await sessionService.pending(key))
      if (kind === 'credential') await forgetConsent({ appName, userId, credentialService, ...auth }, id)
  } catch (error) {
    logger.warn(`The consents of session "${sessionId}" were not deleted: ${messageOf(error)}`, error)
  }
}
