import { checkEvalSet } from './check-eval-set.ts'
import type { EvalSet } from './eval-set.ts'

/**
 * Defines cases in code, for an `*.eval.ts` file that `toolwright eval` runs. Throws INVALID_CONFIG with what to change.
 *
 * @example
 * export default defineEval({
 *   id: 'desk',
 *   agent,
 *   cases: [{ id: 'refund', turns: [{ user: 'Refund A-7', calls: [{ name: 'refund', args: { order: 'A-7' } }] }] }],
 * })
 */
export function defineEval(set: EvalSet): EvalSet {
  checkEvalSet(set, `"${String(set?.id)}"`)
  return set
}
