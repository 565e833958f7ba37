// Runs a set for the workbench, and sends the results while the cases run.
import { setTimeout as delay } from 'node:timers/promises'
import type { EvalSet } from '../../../adapters/eval/cases/eval-set.ts'
import { trialsOf } from '../../../adapters/eval/results/judge-results.ts'
import { passPower } from '../../../adapters/eval/results/pass-rates.ts'
import type { CaseResult, EvalResults } from '../../../adapters/eval/results/results.ts'
import type { EvalMode } from '../../../adapters/eval/run/run-case.ts'
import { runEvals } from '../../../adapters/eval/run/run-evals.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import { CONCURRENCY } from './run-set.ts'

/** What is run. */
export interface Evaluation {
  /** The set. */
  readonly set: EvalSet
  /** The runner of the app. Its stores are not used. */
  readonly runner: Runner
  /** How. */
  readonly mode: EvalMode
  /** How often each case is run. */
  readonly repeat: number
  /** Ends the run. */
  readonly signal: AbortSignal
}

/** A part of the results: the number of cases, cases that have ended, and pass^k at the end. */
export type EvalFrame =
  | { readonly cases: number }
  | { readonly results: readonly CaseResult[] }
  | { readonly passRates: readonly PassRate[] }

/** How likely k runs of a case all pass. */
export interface PassRate {
  /** The number of runs. */
  readonly k: number
  /** From 0 to 1. */
  readonly rate: number
}

/** Results are sent this often. */
const FRAME_MS = 200

/** Runs all cases of a set. */
export async function* evaluate({ set, runner, ...how }: Evaluation): AsyncGenerator<EvalFrame, void> {
  yield { cases: set.cases.length }
  const ended: CaseResult[] = []
  const onCase = (result: CaseResult): void => void ended.push(result)
  const run = runEvals({ sets: [set], target: runner, concurrency: CONCURRENCY, onCase, ...how })
  for (let all: EvalResults | undefined; !all; ) {
    all = await Promise.race([run, delay(FRAME_MS, undefined)])
    if (ended.length > 0) yield { results: ended.splice(0) }
    if (all) yield { passRates: passRatesOf(all) }
  }
}

function passRatesOf({ cases, repeat }: EvalResults): PassRate[] {
  const trials = cases.map(trialsOf)
  return [...new Set([1, repeat])].flatMap((k) => {
    const rate = passPower(trials, k)
    return rate === undefined ? [] : { k, rate }
  })
}
