// Criteria of ADK: metrics over the turns of a case, with thresholds. A set with criteria is judged by them.

/** ADK's metrics by name, and what they must reach. A metric that is not known here is not evaluated, and never passes. */
export interface EvalCriteria {
  readonly [metric: string]: Criterion
}

/** What a metric must reach. */
export interface Criterion {
  /** The least score, from 0 to 1. */
  readonly threshold: number
  /** `tool_trajectory_avg_score`: how calls are compared. Default `exact`. */
  readonly match?: 'exact' | 'in-order' | 'any-order' | undefined
  /** `tool_trajectory_avg_score`: do only the names of tools count? Default false. */
  readonly ignoreArgs?: boolean | undefined
  /** The name of the model that judges. Default `gemini-2.5-flash`, as in ADK. */
  readonly judgeModel?: string | undefined
  /** How often the model is asked. Default 5. */
  readonly samples?: number | undefined
  /** What must be true, for the metrics with rubrics. Those of the case are added. */
  readonly rubrics?: readonly string[] | undefined
}

/** The model that judges if a criterion names none. */
export const DEFAULT_JUDGE = 'gemini-2.5-flash'

/** Metrics that are computed. */
export const COMPUTED: readonly string[] = ['tool_trajectory_avg_score', 'response_match_score']

/** Metrics that a model judges. */
export const JUDGED: readonly string[] = [
  'final_response_match_v2',
  'rubric_based_final_response_quality_v1',
  'rubric_based_tool_use_quality_v1',
]

/** The names of the models that judge criteria. */
export function judgesOf(criteria: EvalCriteria): string[] {
  const judged = JUDGED.flatMap((metric) => (Object.hasOwn(criteria, metric) ? (criteria[metric] ?? []) : []))
  return judged.map(({ judgeModel }) => judgeModel ?? DEFAULT_JUDGE)
}
