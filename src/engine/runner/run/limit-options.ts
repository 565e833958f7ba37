import type { WaitingLimits } from '../../../services/session/waiting-limits.ts'

/** Limits over all processes whose runners have the same store. */
export interface RunnerLimits {
  /** How many runs may be under way. A paused run is not. Default: any number. */
  readonly runs?: RunLimits | undefined
  /** How many messages of `runner.submit()` may wait for a worker. Default: any number. */
  readonly waiting?: WaitingLimits | undefined
}

/** How many runs may be under way at the same time. */
export interface RunLimits {
  /** Runs of all users of the app. Default: any number. */
  readonly perApp?: number | undefined
  /** Runs of one user. Default: any number. */
  readonly perUser?: number | undefined
}
