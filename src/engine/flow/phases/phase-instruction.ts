import { kindOf } from '../../../core/base/kind-of.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { readWithDerived, withoutPrefix } from '../state/derived-key.ts'
import type { ReportProblem } from '../state/report-problem.ts'
import type { LivePhase } from './live-phase.ts'

/**
 * The instruction of a phase, with a line that names the `needs` that state does not have yet. If the function of the
 * developer fails, the problem is reported and only this line is left.
 */
export async function phaseInstruction<S>(
  phase: LivePhase<S>,
  state: ReadonlyState,
  report: ReportProblem,
): Promise<string> {
  const instruction = await resolveInstruction(phase, state, report)
  const missing = (phase.needs ?? []).filter((key) => readWithDerived(state, key) === undefined)
  if (missing.length === 0) return instruction
  const line = `Still needed: ${missing.map(withoutPrefix).join(', ')}.`
  return instruction === '' ? line : `${instruction}\n\n${line}`
}

async function resolveInstruction<S>(
  phase: LivePhase<S>,
  state: ReadonlyState,
  report: ReportProblem,
): Promise<string> {
  if (typeof phase.instruction === 'string') return phase.instruction
  try {
    const instruction: unknown = await phase.instruction(state)
    if (typeof instruction === 'string') return instruction
    throw new TypeError(`It returned ${kindOf(instruction)}. Return a string.`)
  } catch (error) {
    report(`The instruction of phase "${phase.name}" failed. The model gets no instruction for this phase.`, error)
    return ''
  }
}
