import { closestNames } from '../../../core/base/closest-names.ts'
import {
  callback,
  flag,
  list,
  name,
  type OptionRules,
  text,
  textOrCallback,
} from '../../../core/error/check-options.ts'
import { checkItems, checkUnique, invalidItems, NAMES } from '../state/check-items.ts'
import type { LivePhase, PhaseTransition } from './live-phase.ts'

const PHASE_RULES: OptionRules<LivePhase> = {
  name,
  instruction: textOrCallback,
  tools: NAMES,
  transitions: list,
  guard: callback,
  onEnter: callback,
  onExit: callback,
  needs: NAMES,
  terminal: flag,
}

const TRANSITION_RULES: OptionRules<PhaseTransition> = { to: name, when: callback, description: text }

/**
 * Throws INVALID_CONFIG if the phases cannot work.
 *
 * @param toolNames The tools of the session. Omit it if they are not known in advance.
 */
export function validatePhases<S>(
  phases: readonly LivePhase<S>[] | undefined,
  initialPhase: string | undefined,
  toolNames?: Iterable<string>,
): void {
  if (phases === undefined) {
    if (initialPhase === undefined) return
    throw invalidItems(`initialPhase is "${initialPhase}", but there are no phases. Add phases or remove initialPhase.`)
  }
  checkItems('phases', phases, PHASE_RULES, ['name', 'instruction'])
  if (phases.length === 0) throw invalidItems('phases is empty. Add a phase or remove the option.')
  const names = phases.map((phase) => phase.name)
  checkUnique('Phase', names)
  if (initialPhase === undefined)
    throw invalidItems(`initialPhase is required with phases. Set it to one of: ${names.join(', ')}.`)
  if (!names.includes(initialPhase))
    throw invalidItems(`initialPhase "${initialPhase}" is not a phase. ${didYouMean(initialPhase, names)}`)
  const tools = toolNames && [...toolNames]
  for (const phase of phases) {
    checkTransitions(phase, names)
    if (tools) checkTools(phase, tools)
  }
}

function checkTransitions<S>(phase: LivePhase<S>, names: readonly string[]): void {
  const what = `Phase "${phase.name}"`
  const { transitions = [] } = phase
  checkItems(`${what}: transitions`, transitions, TRANSITION_RULES, ['to', 'when'])
  for (const { to } of transitions) {
    if (!names.includes(to))
      throw invalidItems(`${what} has a transition to "${to}", which is not a phase. ${didYouMean(to, names)}`)
    if (to === phase.name)
      throw invalidItems(`${what} has a transition to itself. Remove it: the conversation stays without it.`)
  }
  if (phase.terminal && transitions.length > 0)
    throw invalidItems(`${what} is terminal, so its transitions are never taken. Remove terminal or the transitions.`)
}

function checkTools<S>(phase: LivePhase<S>, toolNames: readonly string[]): void {
  const unknown = phase.tools?.find((tool) => !toolNames.includes(tool))
  if (unknown === undefined) return
  throw invalidItems(
    `Phase "${phase.name}" allows the tool "${unknown}", which the session does not have. ${didYouMean(unknown, toolNames)}`,
  )
}

function didYouMean(wrong: string, names: readonly string[]): string {
  const [meant] = closestNames(wrong, names)
  if (meant !== undefined) return `Did you mean "${meant}"?`
  return names.length === 0 ? 'There are none.' : `Use one of: ${names.join(', ')}.`
}
