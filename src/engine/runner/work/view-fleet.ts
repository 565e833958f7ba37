import type { PendingRequest } from '../../../core/event/pending-request.ts'
import {
  countRecoveries,
  mergeRecoveries,
  type RecoveryTimes,
  recoveryPercentile,
} from '../../../services/worker/recovery-times.ts'
import type { SeenWorker } from '../../../services/worker/service.ts'
import type { RunServices } from '../run-services.ts'
import type { FleetPending, FleetRecoveries, FleetView, FleetWorker } from './fleet-view.ts'
import { LOST_MS } from './worker-presence.ts'

/** The most workers that are listed, and that recovery times are computed from. */
const MAX_WORKERS = 10_000
/** The most sessions that are listed. */
const MAX_SET_ASIDE = 100

/** Reads what operators see of an app. Nothing is read of logs. */
export async function viewFleet(
  appName: string,
  { sessionService, workerService, ports }: Pick<RunServices, 'sessionService' | 'workerService' | 'ports'>,
): Promise<FleetView> {
  const [seen = [], sessions, summary, oldest, aside] = await Promise.all([
    workerService?.list({ appName, limit: MAX_WORKERS }),
    sessionService.countSessions?.({ appName }),
    sessionService.pendingSummary?.({ appName }),
    sessionService.pendingPage?.({ appName, limit: 1 }),
    sessionService.setAside?.({ appName, limit: MAX_SET_ASIDE }),
  ])
  const [request] = oldest?.items ?? []
  return {
    appName,
    workers: seen
      .map(describeWorker)
      .sort((one, other) => one.startedAt - other.startedAt || (one.id < other.id ? -1 : 1)),
    listsWorkers: workerService !== undefined,
    ...(sessions && { sessions }),
    pending: {
      ...(summary && { count: summary.count }),
      ...(request && { oldest: describeRequest(request, ports.now()) }),
    },
    recoveries: summarize(mergeRecoveries(seen.map(({ recoveries }) => recoveries))),
    setAside: aside?.items ?? [],
  }
}

function describeWorker({ appName: _, recoveries: __, ...worker }: SeenWorker): FleetWorker {
  return { ...worker, isLost: worker.unseenMs >= LOST_MS }
}

function describeRequest(
  { id, kind, userId, sessionId, tool, createdAt }: PendingRequest,
  now: number,
): NonNullable<FleetPending['oldest']> {
  const age = createdAt === undefined ? {} : { ageMs: Math.max(0, Math.round(now - createdAt * 1_000)) }
  return { id, kind, userId, sessionId, tool, ...age }
}

function summarize(times: RecoveryTimes): FleetRecoveries {
  const [p50Ms, p99Ms] = [recoveryPercentile(times, 0.5), recoveryPercentile(times, 0.99)]
  return { count: countRecoveries(times), ...(p50Ms !== undefined && { p50Ms }), ...(p99Ms !== undefined && { p99Ms }) }
}
