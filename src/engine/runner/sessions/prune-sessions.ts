// Retention: deletes old sessions, one at a time, so that no lock is held for long.
import { yieldToTimers } from '../../../core/base/ports.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { PrunableSession, PruneFilter, SessionKey, SessionService } from '../../../services/session/service.ts'
import type { RunFactory } from '../run/run-factory.ts'
import type { RunServices } from '../run-services.ts'
import type { PruneOptions, PruneResult } from '../runner-options.ts'
import { deleteOutsideLog, forgetOpenConsents } from './delete-session.ts'
import { keepRenewing } from './unfinished-copy.ts'

type PruningService = SessionService & Required<Pick<SessionService, 'findPrunable' | 'claimIdle'>>

/** How many sessions are listed at a time. */
const PAGE_SESSIONS = 200
/** How many schedules of a session are looked at: more of them keep it anyway. */
const PAGE_SCHEDULES = 100

/** Deletes the sessions of the app that the options select. */
export async function pruneSessions(options: PruneOptions, factory: RunFactory): Promise<PruneResult> {
  const { services, appName } = factory
  const { sessionService, ports, logger } = services
  const filter = filterOf(appName, options, ports.now())
  if (!canPrune(sessionService)) throw cannotPrune()
  const result = { deleted: 0, kept: 0, failed: 0 }
  let after: string | undefined
  do {
    const page = await sessionService.findPrunable({ ...filter, limit: PAGE_SESSIONS, after })
    for (const found of page.items) {
      if (options.signal?.aborted) return result
      try {
        result[(await prune(found, { sessionService, factory, filter })) ? 'deleted' : 'kept']++
      } catch (error) {
        result.failed++
        logger.warn(`Session "${found.sessionId}" was not pruned: ${messageOf(error)}`, error)
      }
      await yieldToTimers(ports)
    }
    after = page.next
  } while (after !== undefined)
  return result
}

function filterOf(appName: string, options: PruneOptions, now: number): PruneFilter {
  const { olderThan, maxSessionsPerUser, keepPending = true } = options
  if (olderThan === undefined && maxSessionsPerUser === undefined)
    throw new ToolwrightError('INVALID_REQUEST', 'runner.prune() needs olderThan, maxSessionsPerUser, or both.')
  const withPending = !keepPending
  return {
    appName,
    ...(olderThan !== undefined && { unchangedSince: now - olderThan }),
    ...(maxSessionsPerUser !== undefined && { maxSessionsPerUser }),
    withPending,
  }
}

interface Pruning {
  readonly sessionService: PruningService
  readonly factory: RunFactory
  readonly filter: PruneFilter
}

/**
 * Deletes a session while it holds its lease, so that no run can start in it. The session goes last: a process that dies before leaves a
 * session whose holder died, and the next prune after `recover()` deletes it. Returns false if it is in use by now.
 */
async function prune(found: PrunableSession, { sessionService, factory, filter }: Pruning): Promise<boolean> {
  const { services } = factory
  const { appName, userId, sessionId, updatedAt } = found
  const key = { appName, userId, sessionId }
  if (await hasSchedule(key, services)) return false
  const lease = await sessionService.claimIdle(key, { unchangedSince: updatedAt, withPending: filter.withPending })
  if (!lease) return false
  const stopRenewing = keepRenewing(lease, services)
  try {
    if (await hasSchedule(key, services)) {
      await sessionService.release(lease) // stored before the session was claimed
      return false
    }
    if (filter.withPending) await forgetOpenConsents(key, services)
    await deleteOutsideLog(key, services)
    await sessionService.renew(lease) // throws if the lease has ended meanwhile
    await sessionService.deleteSession(key)
    return true
  } catch (error) {
    await sessionService.release(lease).catch(() => {}) // the error says more
    throw error
  } finally {
    stopRenewing()
  }
}

/** Does a schedule start runs in the session? */
async function hasSchedule(key: SessionKey, { scheduleService }: RunServices): Promise<boolean> {
  const { items, next } = await scheduleService.listSchedules({ ...key, limit: PAGE_SCHEDULES })
  return next !== undefined || items.some(({ state }) => state.type !== 'ended')
}

function canPrune(service: SessionService): service is PruningService {
  return service.findPrunable !== undefined && service.claimIdle !== undefined
}

function cannotPrune(): ToolwrightError {
  const problem = 'The session service cannot prune sessions: it has no findPrunable() and claimIdle()'
  return new ToolwrightError('INVALID_CONFIG', `${problem}. Implement both, or use another store for runner.prune().`)
}
