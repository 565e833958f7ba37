// What operators see of an app: its workers, its sessions by state, and what waits.
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { SessionCounts, SetAsideSession } from '../../../services/session/service.ts'
import type { SeenWorker } from '../../../services/worker/service.ts'

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
