import {
  anything,
  callback,
  checkOptions,
  list,
  type OptionRules,
  oneOf,
  record,
  text,
  wholeNumber,
} from '../../../core/error/check-options.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Model } from '../../../engine/model/model.ts'
import type { Models } from '../../../engine/runner/models.ts'
import { checkEvalSet } from '../cases/check-eval-set.ts'
import type { EvalCase, EvalSet } from '../cases/eval-set.ts'
import type { CheckResult } from '../checks/check.ts'
import { notJudged } from '../criteria/judge-criteria.ts'
import { type CaseResult, type EvalResults, type TrialResult, worst } from '../results/results.ts'
import { checksOf } from './case-checks.ts'
import { type EvalTarget, modelsOf } from './eval-target.ts'
import { type EvalMode, runCase } from './run-case.ts'

/** Options of `runEvals()`. */
export interface RunEvalsOptions {
  /** The sets. */
  readonly sets: readonly EvalSet[]
  /** The agent or runner of sets without one of their own. */
  readonly target?: EvalTarget | undefined
  /** How the cases run. Default `live`. */
  readonly mode?: EvalMode | undefined
  /** How often each case runs. Default 1. */
  readonly repeat?: number | undefined
  /** How many runs there are at the same time. Default 4. */
  readonly concurrency?: number | undefined
  /** How long a run may take, in milliseconds, unless its case says. Default 120,000. */
  readonly timeLimitMs?: number | undefined
  /** Makes models for the names that agents have. Default: those of the runner. */
  readonly models?: Models | undefined
  /** Plays the user of scenarios. Default: the model of the agent. */
  readonly userModel?: Model | undefined
  /** Judges the criteria of sets. Default: the model that the criterion names. */
  readonly judgeModel?: Model | undefined
  /** Decides which attempts have a fault. Default `1`. */
  readonly seed?: string | undefined
  /** Called with each case when its runs have ended. */
  readonly onCase?: ((result: CaseResult) => void) | undefined
  /** Ends the evaluation: runs under way are cancelled, and no more start. */
  readonly signal?: AbortSignal | undefined
}

const RULES: OptionRules<RunEvalsOptions> = {
  sets: list,
  target: anything,
  mode: oneOf('replay', 'recorded-tools', 'live'),
  repeat: wholeNumber(1),
  concurrency: wholeNumber(1),
  timeLimitMs: wholeNumber(1),
  models: record,
  userModel: record,
  judgeModel: record,
  seed: text,
  onCase: callback,
  signal: anything,
}

/** Characters in results. */
const MAX_REPLY = 500
const MAX_DETAIL = 5_000

/** A cancelled run gets this long to end before it is left alone. */
const STOP_MS = 5_000
/** A timer with a longer time ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** Replays wait for nothing: timers and other work of the process get a turn this often. */
const REST_MS = 20

/**
 * Runs all cases of sets and checks them. A case that fails or hangs does not stop the others.
 *
 * @example
 * const { cases } = await runEvals({ sets: [set], target: agent, mode: 'replay' })
 * assert.deepEqual(cases.filter(({ status }) => status !== 'PASSED'), [])
 */
export async function runEvals(options: RunEvalsOptions): Promise<EvalResults> {
  checkOptions('runEvals()', options, RULES)
  const { sets, mode = 'live', repeat = 1, concurrency = 4 } = options
  for (const set of sets) checkEvalSet(set, `"${String(set?.id)}"`)
  const jobs = sets.flatMap((set) => set.cases.map((one): Job => ({ set, case: one, target: targetOf(set, options) })))
  const cases: CaseResult[] = new Array(jobs.length)
  let next = 0
  let rested = performance.now()
  const work = async (): Promise<void> => {
    for (let at = next++; at < jobs.length; at = next++) {
      if (performance.now() - rested > REST_MS) {
        await new Promise((resolve) => setTimeout(resolve))
        rested = performance.now()
      }
      const job = jobs[at] as Job
      const result = await runJob(job, { ...options, mode, repeat })
      cases[at] = result
      options.onCase?.(result)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, work))
  return { version: 1, mode, repeat, cases }
}

interface Job {
  readonly set: EvalSet
  readonly case: EvalCase
  readonly target: EvalTarget
}

type JobOptions = RunEvalsOptions & { readonly mode: EvalMode; readonly repeat: number }

function targetOf({ id, agent }: EvalSet, { target }: RunEvalsOptions): EvalTarget {
  const found = agent ?? target
  if (found) return found
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `Eval set "${id}" has no agent. Set agent in defineEval(), or pass target.`,
  )
}

async function runJob(job: Job, options: JobOptions): Promise<CaseResult> {
  const trials: TrialResult[] = []
  for (let trial = 1; trial <= options.repeat; trial++) trials.push(await runTrial(job, options, trial))
  return { set: job.set.id, case: job.case.id, status: worst(trials.map(({ status }) => status)), trials }
}

/** Runs a case once. When its time is over it is cancelled, and left alone if it does not end then. */
async function runTrial(job: Job, options: JobOptions, trial: number): Promise<TrialResult> {
  const limit = Math.min(job.case.timeLimitMs ?? options.timeLimitMs ?? 120_000, MAX_TIMER_MS)
  const since = performance.now()
  if (options.signal?.aborted) return errorResult(options.signal.reason, since)
  const controller = new AbortController()
  const stop = (): void => controller.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', stop)
  const timers = [setTimeout(() => controller.abort(new Error(`The case took longer than ${limit} ms.`)), limit)]
  const left = new Promise<never>((_, reject) => {
    const leave = (): void => void timers.push(setTimeout(() => reject(controller.signal.reason), STOP_MS))
    if (controller.signal.aborted) leave()
    else controller.signal.addEventListener('abort', leave)
  })
  try {
    const result = await Promise.race([evaluate(job, options, trial, controller.signal), left])
    return controller.signal.aborted ? errorResult(controller.signal.reason, since) : result
  } catch (error) {
    return errorResult(controller.signal.aborted ? controller.signal.reason : error, since)
  } finally {
    for (const timer of timers) clearTimeout(timer)
    options.signal?.removeEventListener('abort', stop)
  }
}

async function evaluate(job: Job, options: JobOptions, trial: number, signal: AbortSignal): Promise<TrialResult> {
  const { mode, models, userModel, seed = '1' } = options
  const { set, case: one, target } = job
  const own = `${seed}/${set.id}/${one.id}/${trial}`
  const run = await runCase(one, { target, mode, models, userModel, seed: own, signal })
  const resolve = modelsOf(target, models)
  const judgeModel = mode === 'replay' ? undefined : (name: string) => options.judgeModel ?? resolve(name, 'judge')
  const { outcome } = run
  const checks = [...run.found, ...(await checksOf(set, one, { outcome, judgeModel }))].map(withShortDetail)
  const notes = [...run.notes, ...(judgeModel ? [] : notJudged(set.criteria ?? {}))]
  const { timeMs, tokens, calls, reply } = outcome
  return {
    status: checks.length === 0 ? 'NOT_EVALUATED' : worst(checks.map(({ status }) => status)),
    checks,
    notes: checks.length === 0 ? [...notes, 'The case has no checks.'] : notes,
    timeMs: Math.round(timeMs),
    tokens: tokens.input + tokens.output,
    calls: calls.length,
    reply: shorten(reply, MAX_REPLY),
  }
}

function errorResult(error: unknown, since: number): TrialResult {
  const timeMs = Math.round(performance.now() - since)
  const message = shorten(messageOf(error), MAX_DETAIL)
  return { status: 'ERROR', checks: [], error: message, notes: [], timeMs, tokens: 0, calls: 0, reply: '' }
}

function withShortDetail(result: CheckResult): CheckResult {
  return (result.detail?.length ?? 0) > MAX_DETAIL
    ? { ...result, detail: shorten(result.detail ?? '', MAX_DETAIL) }
    : result
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text
}
