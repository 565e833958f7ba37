// Scores the criteria of a case. What cannot be scored is not evaluated, and never passes.
import { messageOf } from '../../../core/error/error.ts'
import type { Model } from '../../../engine/model/model.ts'
import type { EvalCase, EvalTurn } from '../cases/eval-set.ts'
import { checkCalls } from '../checks/call-checks.ts'
import type { CaseOutcome, CheckResult, Verdict } from '../checks/check.ts'
import { judge } from '../checks/judge.ts'
import { rouge1 } from '../checks/rouge.ts'
import { COMPUTED, type Criterion, DEFAULT_JUDGE, type EvalCriteria, JUDGED } from './criteria.ts'

/** A turn of a case with what has happened in it. */
export interface JudgedTurn {
  /** What is expected. */
  readonly turn: EvalTurn
  /** What has happened. */
  readonly outcome: CaseOutcome
}

/** What judging needs besides the turns. */
export interface JudgeSettings {
  /** The case. */
  readonly case: EvalCase
  /** Makes the model of this name. Undefined in a replay, which asks no model. */
  readonly judgeModel: ((name: string) => Model) | undefined
}

/** What the criteria say of a case. In a replay, those that a model judges are left out: see `notJudged()`. */
export async function judgeCriteria(
  criteria: EvalCriteria,
  turns: readonly JudgedTurn[],
  settings: JudgeSettings,
): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const [name, criterion] of Object.entries(criteria)) {
    if (JUDGED.includes(name) && !settings.judgeModel) continue
    try {
      results.push({ name, ...verdictOf(await scoresOf(name, criterion, turns, settings), criterion) })
    } catch (error) {
      results.push({ name, status: 'NOT_EVALUATED', detail: messageOf(error) })
    }
  }
  return results
}

/** Notes of a replay: the criteria that it does not judge. */
export function notJudged(criteria: EvalCriteria): string[] {
  const left = Object.keys(criteria).filter((name) => JUDGED.includes(name))
  return left.map((name) => `${name} is not evaluated: a model judges it, and --replay asks none.`)
}

function verdictOf(scores: readonly number[], { threshold }: Criterion): Verdict {
  if (scores.length === 0) return { status: 'NOT_EVALUATED', detail: 'No turn says what is expected.' }
  const score = scores.reduce((sum, one) => sum + one, 0) / scores.length
  const detail = `${score.toFixed(2)}, at least ${threshold} is needed`
  return { status: score >= threshold ? 'PASSED' : 'FAILED', score, detail }
}

/** The scores of the turns that say what is expected. */
async function scoresOf(
  name: string,
  criterion: Criterion,
  turns: readonly JudgedTurn[],
  settings: JudgeSettings,
): Promise<number[]> {
  if (name === 'tool_trajectory_avg_score') return turns.flatMap((one) => trajectoryScore(one, criterion))
  if (name === 'response_match_score')
    return turns.flatMap(({ turn, outcome }) => (turn.reply === undefined ? [] : rouge1(outcome.reply, turn.reply)))
  if (!JUDGED.includes(name))
    throw new Error(`Criterion "${name}" is not known. Known: ${[...COMPUTED, ...JUDGED].join(', ')}.`)
  const statements = name === 'final_response_match_v2' ? sameAnswer : rubricsOf(criterion, settings)
  const scores: number[] = []
  for (const { turn, outcome } of turns)
    for (const rubric of statements(turn)) scores.push(await vote(rubric, outcome, criterion, settings))
  return scores
}

function trajectoryScore({ turn: { calls }, outcome }: JudgedTurn, { match, ignoreArgs }: Criterion): number[] {
  if (!calls) return []
  const expected = ignoreArgs ? calls.map(({ name }) => ({ name })) : calls
  return [checkCalls({ calls: expected, match }, outcome.calls).status === 'PASSED' ? 1 : 0]
}

function sameAnswer({ reply }: EvalTurn): string[] {
  if (reply === undefined) return []
  return [`The answer of the assistant means the same as this reference answer: ${JSON.stringify(reply)}`]
}

function rubricsOf({ rubrics = [] }: Criterion, { case: one }: JudgeSettings): () => readonly string[] {
  const all = [...rubrics, ...(one.rubrics ?? [])]
  if (all.length === 0) throw new Error('Neither the criterion nor the case has rubrics.')
  return () => all
}

async function vote(
  rubric: string,
  outcome: CaseOutcome,
  { judgeModel = DEFAULT_JUDGE, samples }: Criterion,
  { judgeModel: modelOf }: JudgeSettings,
): Promise<number> {
  if (!modelOf) throw new Error('There is no model that judges.')
  const { status, detail } = await judge({ model: modelOf(judgeModel), rubric, samples }).check(outcome)
  if (status === 'NOT_EVALUATED') throw new Error(detail)
  return status === 'PASSED' ? 1 : 0
}
