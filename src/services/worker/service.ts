import type { RecoveryTimes } from './recovery-times.ts'

/** Identifies a worker in an app. */
export interface WorkerKey {
  /** The app. */
  readonly appName: string
  /** The worker: a random id of one process. */
  readonly id: string
}

/** What a worker says of itself. It is JSON. */
export interface WorkerReport extends WorkerKey {
  /** What its operator calls it, such as the name of a pod. */
  readonly label?: string
  /** What gives it its work: it looks into the store, or Restate calls it. */
  readonly engine: 'store' | 'restate'
  /** The version of Toolwright. */
  readonly version: string
  /** Differs between agent trees: workers with the same value run the same agents. */
  readonly agents: string
  /** When it was started, on its own clock, in milliseconds since the epoch. */
  readonly startedAt: number
  /** The runs under way. */
  readonly running: number
  /** The runs that it has continued or started since it was started. */
  readonly continued: number
  /** How often it has taken over a session whose holder had died. */
  readonly crashes: number
  /** How long those sessions were without a holder. */
  readonly recoveries: RecoveryTimes
}

/** A worker, and when it was last heard of. */
export interface SeenWorker extends WorkerReport {
  /** The time since its latest report, in milliseconds, on the clock of the store. */
  readonly unseenMs: number
}

/**
 * Stores which workers there are. Workers report every ten seconds; nothing depends on it. Times are measured on one clock, that of the
 * store, so that it does not matter how the clocks of workers are set. Errors are `ToolwrightError`s with the codes INVALID_REQUEST and
 * STORAGE.
 */
export interface WorkerService {
  /** The version of Toolwright in this process, for the reports of its workers. Default: `unknown`. */
  readonly version?: string | undefined
  /** Stores what a worker reports. It replaces its earlier report. */
  report(worker: WorkerReport): Promise<void>
  /** Removes a worker that ends. Does nothing if there is none. */
  remove(key: WorkerKey): Promise<void>
  /** The workers of an app, at most `limit`, those that reported last first. */
  list(filter: { appName: string; limit: number }): Promise<SeenWorker[]>
  /** Removes the workers of an app that have not reported for this time, in milliseconds. Returns how many. */
  sweep(filter: { appName: string; unseenMs: number }): Promise<number>
}
