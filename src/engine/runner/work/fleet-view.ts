// What operators see of an app: its workers, its sessions by state, and what waits.
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { SessionCounts, SetAsideSession } from '../../../services/session/service.ts'
import {
  countRecoveries,
  mergeRecoveries,
  type RecoveryTimes,
  recoveryPercentile,
} from '../../../services/worker/recovery-times.ts'
import type { SeenWorker } from '../../../services/worker/service.ts'
import type { RunServices } from '../run-services.ts'
import { LOST_MS } from './worker-presence.ts'

/** The most workers that are listed, and that recovery times are computed from. */
const MAX_WORKERS = 10_000
/** The most sessions that are listed. */
const MAX_SET_ASIDE = 100

/** What operators see of an app. It is JSON. */
export interface FleetView {
  /** The app. */
  readonly appName: string
  /** Its workers, the latest started ones last. */
  readonly workers: readonly FleetWorker[]
  /** Does the store keep workers? Else the list is empty. */
  readonly listsWorkers: boolean
  /** The sessions by state. Absent if the store cannot count them. */
  readonly sessions?: SessionCounts
  /** The requests that wait for an answer. */
  readonly pending: FleetPending
  /** How long sessions were without a holder after a worker had died. */
  readonly recoveries: FleetRecoveries
  /** Sessions that workers leave alone, at most 100. */
  readonly setAside: readonly SetAsideSession[]
}

/** A worker as operators see it. */
export interface FleetWorker extends Omit<SeenWorker, 'appName' | 'recoveries'> {
  /** It has not reported for 30 s: its process has died, or cannot reach the store. */
  readonly isLost: boolean
}

/** The requests that wait for an answer. */
export interface FleetPending {
  /** Their number. Absent if the store cannot count them. */
  readonly count?: number
  /** The oldest one, and its age in milliseconds. */
  readonly oldest?: Pick<PendingRequest, 'id' | 'kind' | 'userId' | 'sessionId' | 'tool'> & { readonly ageMs?: number }
}

/**
 * Recovery times of the listed workers: from the last sign of life of a holder that died, which is its claim or its latest renewal of the
 * lease, to the first append of the worker that continues. The median and the 99th percentile are the upper ends of their ranges.
 */
export interface FleetRecoveries {
  /** The number of recoveries. */
  readonly count: number
  /** Half of them took at most this long, in milliseconds. */
  readonly p50Ms?: number
  /** 99 of 100 took at most this long, in milliseconds. */
  readonly p99Ms?: number
}

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
