import { isUserFilename } from '../../core/base/key-scope.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import { sessionGone } from '../../services/session/session-errors.ts'
import { findDeletedOf } from './find-deleted-of.ts'
import type { InvocationHost } from './invocation-host.ts'

type Saved = Pick<Parameters<ArtifactService['saveArtifact']>[0], 'artifact' | 'customMetadata'>

/**
 * Saves an artifact of the session, and returns its version. If the session was deleted meanwhile, removes the artifact again and throws
 * SESSION_GONE: the deletion may have looked for artifacts before.
 */
export async function saveArtifact(
  host: InvocationHost,
  service: ArtifactService,
  filename: string,
  saved: Saved,
): Promise<number> {
  const key = artifactKey(host, filename)
  const version = await service.saveArtifact({ ...key, ...saved })
  const deleted = await findDeletedOf(host)
  if (deleted === 'nothing') return version
  if (deleted === 'user' || !isUserFilename(filename)) await service.deleteArtifact(key)
  throw sessionGone(host.sessionId)
}

/** The key of an artifact of the session. */
export function artifactKey(
  host: InvocationHost,
  filename: string,
): { appName: string; userId: string; sessionId: string; filename: string } {
  return { appName: host.appName, userId: host.userId, sessionId: host.sessionId, filename }
}
