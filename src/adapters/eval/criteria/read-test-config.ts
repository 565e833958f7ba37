import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { member } from '../cases/names.ts'
import { parseJson, readRubrics } from '../cases/read-eval-set.ts'
import type { Criterion, EvalCriteria } from './criteria.ts'

/**
 * Reads a `test_config.json` of ADK: its criteria with their thresholds. Throws INVALID_CONFIG with what to change. `name` names the
 * file in errors.
 *
 * @example
 * const criteria = readTestConfig(await readFile('test_config.json', 'utf8'), 'test_config.json')
 * const set = { ...readEvalSet(await readFile('desk.evalset.json', 'utf8'), 'desk.evalset.json'), criteria }
 */
export function readTestConfig(text: string, name: string): EvalCriteria {
  const { criteria } = parseJson(text, name)
  if (!isRecord(criteria)) throw invalid(name, `needs an object "criteria", got ${kindOf(criteria)}`)
  return Object.fromEntries(
    Object.entries(criteria).map(([metric, given]) => [
      metric,
      readCriterion(given, `criterion "${metric}" of "${name}"`),
    ]),
  )
}

function readCriterion(given: unknown, what: string): Criterion {
  if (typeof given === 'number') return { threshold: readThreshold(given, what) }
  if (!isRecord(given)) throw invalid(what, `must be a threshold or an object, got ${kindOf(given)}`)
  const judge = member(given, 'judge_model_options')
  const options = isRecord(judge) ? judge : {}
  const [judgeModel, samples] = [member(options, 'judge_model'), member(options, 'num_samples')]
  const match = readMatch(member(given, 'match_type'), what)
  const rubrics = readRubrics(given.rubrics)
  if (samples !== undefined && samples !== null && !(Number.isInteger(samples) && Number(samples) >= 1))
    throw invalid(what, 'must have a whole number >= 1 as num_samples')
  return {
    threshold: readThreshold(given.threshold, what),
    ...(match && { match }),
    ...(member(given, 'ignore_args') === true && { ignoreArgs: true }),
    ...(typeof judgeModel === 'string' && judgeModel !== '' && { judgeModel }),
    ...(typeof samples === 'number' && { samples }),
    ...(rubrics.length > 0 && { rubrics }),
  }
}

function readThreshold(given: unknown, what: string): number {
  if (typeof given === 'number' && given >= 0 && given <= 1) return given
  throw invalid(what, 'must have a threshold from 0 to 1')
}

/** ADK writes the name or the number of a member of its enumeration. */
const MATCHES: ReadonlyMap<unknown, NonNullable<Criterion['match']>> = new Map<
  unknown,
  NonNullable<Criterion['match']>
>([
  ['EXACT', 'exact'],
  ['IN_ORDER', 'in-order'],
  ['ANY_ORDER', 'any-order'],
  [0, 'exact'],
  [1, 'in-order'],
  [2, 'any-order'],
])

function readMatch(given: unknown, what: string): Criterion['match'] {
  if (given === undefined || given === null) return undefined
  const match = MATCHES.get(typeof given === 'string' ? given.toUpperCase() : given)
  if (match) return match
  throw invalid(what, 'must have EXACT, IN_ORDER or ANY_ORDER as match_type')
}

function invalid(what: string, problem: string): ToolwrightError {
  const subject = what.startsWith('criterion') ? `The ${what}` : `"${what}"`
  return new ToolwrightError('INVALID_CONFIG', `${subject} ${problem}. Pass a test_config.json as ADK reads it.`)
}
