// Runs cases of a set for adk-web, and writes what it shows: a result for each case, with a score for each metric.
import type { EvalCase, EvalSet } from '../../../adapters/eval/cases/eval-set.ts'
import type { CaseOutcome, CheckResult, Status } from '../../../adapters/eval/checks/check.ts'
import type { EvalCriteria } from '../../../adapters/eval/criteria/criteria.ts'
import type { CaseResult } from '../../../adapters/eval/results/results.ts'
import { runEvals } from '../../../adapters/eval/run/run-evals.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import type { Runner } from '../../../engine/runner/runner.ts'

/** What is run. */
export interface EvalRun {
  /** The set, with the cases that run. */
  readonly set: EvalSet
  /** The metrics that the page asks for. */
  readonly criteria: EvalCriteria
  /** The runner of the app. Its stores are not used. */
  readonly runner: Runner
  /** Ends the run. */
  readonly signal: AbortSignal
}

/** Runs at the same time: the server has other work. */
export const CONCURRENCY = 2

/** ADK's numbers. What could not run was not evaluated. */
const STATUS: Readonly<Record<Status | 'ERROR', number>> = { PASSED: 1, FAILED: 2, NOT_EVALUATED: 3, ERROR: 3 }

/** The result of each case, as ADK's `RunEvalResult` in camel case. */
export async function runSet({ set, criteria, runner, signal }: EvalRun): Promise<JsonObject[]> {
  const outcomes = new Map<string, CaseOutcome>()
  const check = (outcome: CaseOutcome): { status: 'PASSED' } => {
    outcomes.set(outcome.id, outcome)
    return { status: 'PASSED' }
  }
  const keep = { name: KEEP, check }
  const checked = { ...set, criteria, checks: [...(set.checks ?? []), keep] }
  const { cases } = await runEvals({ sets: [checked], target: runner, concurrency: CONCURRENCY, signal })
  const byId = new Map(set.cases.map((one) => [one.id, one]))
  return cases.map((result) =>
    resultJson(result, { criteria, one: byId.get(result.case), outcome: outcomes.get(result.case) }),
  )
}

/** The check that looks at what happened, and checks nothing. */
const KEEP = 'outcome'

interface Judged {
  readonly criteria: EvalCriteria
  readonly one: EvalCase | undefined
  readonly outcome: CaseOutcome | undefined
}

function resultJson({ set, case: id, trials }: CaseResult, { criteria, one, outcome }: Judged): JsonObject {
  const [trial] = trials
  const checks = trial?.checks.filter(({ name }) => name !== KEEP) ?? []
  const status = trial?.error !== undefined || checks.length === 0 ? 'NOT_EVALUATED' : (trial?.status ?? 'ERROR')
  const metrics = checks.map((result) => metricJson(result, criteria))
  return {
    evalSetFile: '',
    evalSetId: set,
    evalId: id,
    finalEvalStatus: STATUS[status],
    ...(trial?.error !== undefined && { errorMessage: trial.error }),
    evalMetricResults: metrics.map((metric) => [metric, metric]),
    overallEvalMetricResults: metrics,
    evalMetricResultPerInvocation: (one?.turns ?? []).map((turn, at) => ({
      expectedInvocation: invocationJson(turn.user, turn.reply ?? '', turn.calls ?? []),
      actualInvocation: actualJson(turn.user, outcome?.turns[at]),
      evalMetricResults: [],
    })),
    userId: one?.session?.userId ?? 'eval-user',
    sessionId: '',
  }
}

function metricJson({ name, status, score, detail }: CheckResult, criteria: EvalCriteria): JsonObject {
  const threshold = Object.hasOwn(criteria, name) ? criteria[name]?.threshold : undefined
  const value = score ?? (status === 'NOT_EVALUATED' ? undefined : Number(status === 'PASSED'))
  return {
    metricName: name,
    threshold: threshold ?? 1,
    evalStatus: STATUS[status],
    ...(value !== undefined && { score: value }),
    ...(detail !== undefined && { details: { rationale: detail } }),
  }
}

function actualJson(user: EvalTurn['user'], turn: CaseOutcome['turns'][number] | undefined): JsonObject {
  const calls = turn?.invocation?.calls.filter(({ parent, kind }) => parent === undefined && kind === 'tool') ?? []
  return invocationJson(user, turn?.reply ?? '', calls)
}

type EvalTurn = NonNullable<EvalCase['turns']>[number]

function invocationJson(
  user: EvalTurn['user'],
  reply: string,
  calls: readonly { readonly name: string; readonly args?: unknown }[],
): JsonObject {
  return {
    userContent: { role: 'user', parts: typeof user === 'string' ? [{ text: user }] : user },
    finalResponse: { role: 'model', parts: [{ text: reply }] },
    intermediateData: { toolUses: calls.map(({ name, args = {} }) => ({ name, args })), intermediateResponses: [] },
  }
}
