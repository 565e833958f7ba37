// Whether the results of an evaluation are good enough.
import { isRecord } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { passPower } from './pass-rates.ts'
import type { CaseResult, EvalResults } from './results.ts'

/** The least pass^k, by k. */
export type Minimums = ReadonlyMap<number, number>

/** Why an evaluation failed, in sentences. */
export interface Judgement {
  /** A check, a minimum, or a case that passed before has failed. */
  readonly failures: readonly string[]
  /** What could not be run or evaluated. */
  readonly problems: readonly string[]
}

/** Judges results. `passed`: the cases that passed in the baseline. With minimums, single failures count only in them. */
export function judgeResults(
  { cases }: EvalResults,
  { minimums = new Map(), passed = new Set() }: { minimums?: Minimums; passed?: ReadonlySet<string> } = {},
): Judgement {
  const failed = cases.filter(({ status }) => status === 'FAILED')
  const unknown = cases.filter(({ status }) => status === 'ERROR' || status === 'NOT_EVALUATED')
  const failures: string[] = []
  if (cases.length === 0) failures.push('No case was evaluated.')
  if (failed.length > 0 && minimums.size === 0) failures.push(`${count(failed.length, 'case')} failed.`)
  for (const [k, least] of minimums) {
    const found = passPower(cases.map(trialsOf), k)
    if (found !== undefined && found < least)
      failures.push(`pass^${k} is ${found.toFixed(3)}, at least ${least} is needed.`)
  }
  const lost = cases.filter((one) => one.status !== 'PASSED' && passed.has(nameOf(one))).map(nameOf)
  if (lost.length > 0)
    failures.push(`${count(lost.length, 'case')} passed in the baseline: ${lost.slice(0, 20).join(', ')}.`)
  const problems = unknown.length > 0 ? [`${count(unknown.length, 'case')} could not be evaluated.`] : []
  return { failures, problems }
}

/** The trials of a case, for pass^k. */
export function trialsOf({ trials }: CaseResult): { trials: number; passed: number } {
  return { trials: trials.length, passed: trials.filter(({ status }) => status === 'PASSED').length }
}

/** The name of a case in reports and baselines. */
export function nameOf({ set, case: id }: Pick<CaseResult, 'set' | 'case'>): string {
  return `${set}/${id}`
}

/** Reads the cases that passed from the results of an earlier evaluation. Throws INVALID_CONFIG if it is none. */
export function readBaseline(json: unknown, file: string): Set<string> {
  const cases = isRecord(json) && json.version === 1 ? json.cases : undefined
  if (!Array.isArray(cases))
    throw new ToolwrightError('INVALID_CONFIG', `"${file}" is no baseline. Write one with \`toolwright eval --json\`.`)
  return new Set(
    cases.filter((one) => isRecord(one) && one.status === 'PASSED').map((one) => nameOf(one as CaseResult)),
  )
}

function count(number: number, one: string): string {
  return `${number} ${number === 1 ? one : `${one}s`}`
}
