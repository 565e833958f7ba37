import { messageOf } from '../../../core/error/error.ts'
import { forgetConsent } from '../../../services/auth/consent/consent-record.ts'
import { checkKey } from '../../../services/session/check-key.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'
import { deleteArtifacts } from './copy-artifacts.ts'

/**
 * Deletes a session with what other stores hold for it: open consents, schedules and artifacts. Those of the user stay. After a failure it can
 * be called again: consents are found through the session, so they go first, and artifacts through their names, also later.
 */
export async function deleteSession(key: SessionKey, services: RunServices): Promise<void> {
  const { sessionService, scheduleService, artifactService } = services
  checkKey(key) // without a session id, the requests of all sessions would be found
  await forgetOpenConsents(key, services)
  await scheduleService.deleteSession(key)
  await sessionService.deleteSession(key)
  if (artifactService) await deleteArtifacts(key, artifactService, services.ports)
}

/** A session whose requests cannot be read, such as a damaged one, can still be deleted. */
async function forgetOpenConsents(key: SessionKey, services: RunServices): Promise<void> {
  const { appName, userId, sessionId } = key
  const { sessionService, credentialService, auth, logger } = services
  try {
    for (const { kind, id } of await sessionService.pending(key))
      if (kind === 'credential') await forgetConsent({ appName, userId, credentialService, ...auth }, id)
  } catch (error) {
    logger.warn(`The consents of session "${sessionId}" were not deleted: ${messageOf(error)}`, error)
  }
}
