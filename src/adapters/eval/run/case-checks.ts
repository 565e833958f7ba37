// The checks of a case: those of its turns, its own and those of its set.
import type { EvalCase, EvalSet, EvalTurn } from '../cases/eval-set.ts'
import type { CaseOutcome, Check, CheckResult, TurnOutcome } from '../checks/check.ts'
import { runCheck } from '../checks/run-check.ts'
import { type JudgeSettings, judgeCriteria } from '../criteria/judge-criteria.ts'

/** Runs all checks of a case. `judgeModel`: undefined in a replay, which asks no model. */
export async function checksOf(
  set: EvalSet,
  one: EvalCase,
  { outcome, judgeModel }: { readonly outcome: CaseOutcome; readonly judgeModel: JudgeSettings['judgeModel'] },
): Promise<CheckResult[]> {
  const { criteria } = set
  const results: CheckResult[] = []
  const turns = (one.turns ?? []).map((turn, at) => ({ turn, outcome: ofTurn(outcome, outcome.turns[at]) }))
  for (const [at, { turn, outcome: own }] of turns.entries()) {
    const checks = criteria ? (turn.checks ?? []) : checksOfTurn(turn)
    for (const check of checks) results.push(await runCheck(check, own, at + 1))
  }
  if (criteria) results.push(...(await judgeCriteria(criteria, turns, { case: one, judgeModel })))
  const ofCase: Check[] = one.finalState === undefined ? [] : [{ state: one.finalState }]
  for (const check of [...ofCase, ...(one.checks ?? []), ...(set.checks ?? [])])
    results.push(await runCheck(check, outcome))
  return results
}

function checksOfTurn({ calls, reply, checks = [] }: EvalTurn): Check[] {
  return [...(calls ? [{ calls }] : []), ...(reply === undefined ? [] : [{ similar: reply }]), ...checks]
}

/** The outcome of one turn. A turn that was not reached has no calls and no answer. */
function ofTurn(outcome: CaseOutcome, turn: TurnOutcome | undefined): CaseOutcome {
  const { invocation } = turn ?? {}
  return {
    ...outcome,
    turns: turn ? [turn] : [],
    reply: turn?.reply ?? '',
    invocations: invocation ? [invocation] : [],
    calls: invocation?.calls.filter(({ kind }) => kind !== 'toolset') ?? [],
    tokens: invocation?.tokens ?? { input: 0, output: 0 },
    timeMs: turn?.timeMs ?? 0,
  }
}

/** Turns whose model failed: what they show says nothing about the agent. */
export function modelErrors({ turns }: CaseOutcome): CheckResult[] {
  return turns.flatMap(({ error }, at) => {
    if (error?.code !== 'MODEL_ERROR') return []
    return [{ name: `turn ${at + 1}: model`, status: 'NOT_EVALUATED', detail: error.message }]
  })
}
