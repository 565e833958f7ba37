// What an evaluation found. Plain data: a report, a page and a baseline read it.
import type { CheckResult, Status } from '../checks/check.ts'
import type { EvalMode } from '../run/run-case.ts'

/** One run of a case. */
export interface TrialResult {
  /** `ERROR`: the run could not be done, or took too long. */
  readonly status: Status | 'ERROR'
  /** What its checks say. */
  readonly checks: readonly CheckResult[]
  /** Why it could not be done. */
  readonly error?: string
  /** Remarks that are no failures. */
  readonly notes: readonly string[]
  /** Milliseconds. */
  readonly timeMs: number
  /** Tokens that models read and wrote. */
  readonly tokens: number
  /** Tool calls. */
  readonly calls: number
  /** The last answer, shortened. */
  readonly reply: string
}

/** A case with its runs. */
export interface CaseResult {
  /** The set. */
  readonly set: string
  /** The case. */
  readonly case: string
  /** `PASSED` if every run passed. */
  readonly status: Status | 'ERROR'
  /** The runs. */
  readonly trials: readonly TrialResult[]
}

/** The results of an evaluation. */
export interface EvalResults {
  /** The version of this form. */
  readonly version: 1
  /** How the cases were run. */
  readonly mode: EvalMode
  /** How often each case was run. */
  readonly repeat: number
  /** The cases, in order. */
  readonly cases: readonly CaseResult[]
}

/** The status of several runs or checks: the worst one. No run at all was not evaluated. */
export function worst(statuses: readonly (Status | 'ERROR')[]): Status | 'ERROR' {
  for (const status of ['FAILED', 'ERROR', 'NOT_EVALUATED'] as const) if (statuses.includes(status)) return status
  return statuses.length === 0 ? 'NOT_EVALUATED' : 'PASSED'
}
