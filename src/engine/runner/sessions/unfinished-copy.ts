// Copies of sessions that are not complete yet. No run can see them, and what is left of a failed one is removed.
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { DEFAULT_LEASE_MS } from '../../../services/session/lease.ts'
import type { Lease } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'
import { RENEWALS_PER_LEASE } from '../session/leases.ts'
import { deleteArtifacts } from './copy-artifacts.ts'

/**
 * Completes a copy that `createCopy` has started: `fill` writes it and returns the last sequence number, and one append makes
 * it a session. Removes the copy if this fails.
 */
export async function completeCopy(lease: Lease, services: RunServices, fill: () => Promise<number>): Promise<void> {
  const { sessionService, logger } = services
  const stopRenewing = keepRenewing(lease, services)
  try {
    await sessionService.append(lease, await fill(), [], { completesCopy: true })
  } catch (error) {
    const end = await removeCopy(lease, services)
    if (end !== 'complete') throw error // else the store has reported an error after the commit
  } finally {
    stopRenewing()
  }
  await sessionService.release(lease).catch((error) => logger.warn(messageOf(error), error))
}

/** Removes the copies whose process died before they were complete, with their artifacts. */
export async function removeUnfinishedCopies(appName: string, services: RunServices): Promise<void> {
  const leases = await services.sessionService.claimUnfinishedCopies?.({ appName })
  await Promise.all((leases ?? []).map((lease) => removeCopy(lease, services)))
}

/** Removes a copy unless it is complete. The artifacts go first: while the copy exists, the rest can be removed later. */
async function removeCopy(
  lease: Lease,
  { sessionService, artifactService, logger, ports }: RunServices,
): Promise<'complete' | 'removed' | 'kept'> {
  const { key } = lease
  try {
    if (await sessionService.getSession({ ...key, config: { numRecentEvents: 0 } })) return 'complete'
    const isDeleted = await isGone(lease, sessionService)
    if (artifactService) await deleteArtifacts(key, artifactService, ports)
    if (!isDeleted) await sessionService.release(lease)
    return 'removed'
  } catch (error) {
    const later = 'runner.recover() removes it when its lease has ended'
    logger.warn(`The unfinished copy "${key.sessionId}" was not removed: ${messageOf(error)}. ${later}.`, error)
    return 'kept'
  }
}

/** Was the copy deleted with its user, who may have artifacts that were copied later? Throws if another process has claimed it, to remove it. */
async function isGone(lease: Lease, sessionService: RunServices['sessionService']): Promise<boolean> {
  try {
    await sessionService.renew(lease)
    return false
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'SESSION_GONE') return true
    throw error
  }
}

/** Renews the lease until the returned function is called. The next append reports a lost lease. */
export function keepRenewing(
  lease: Lease,
  { sessionService, ports }: Pick<RunServices, 'sessionService' | 'ports'>,
): () => void {
  const everyMs = (lease.leaseMs || DEFAULT_LEASE_MS) / RENEWALS_PER_LEASE
  let stop = ports.setTimer(renew, everyMs, { background: true })
  function renew(): void {
    sessionService.renew(lease).catch(() => {})
    stop = ports.setTimer(renew, everyMs, { background: true })
  }
  return () => stop()
}
