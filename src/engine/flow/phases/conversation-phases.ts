import { checkOptions, list, name, type OptionRules } from '../../../core/error/check-options.ts'
import type { ConversationPhases, PhaseHost } from '../../runner/run/conversation-phases.ts'
import { StateMirror } from '../state/state-mirror.ts'
import type { WatchedSession } from '../state/watched-session.ts'
import type { PhaseDefinition } from './phase-definition.ts'
import { TextPhases } from './text-phases.ts'
import { validatePhases } from './validate-phases.ts'

const RULES: OptionRules<PhaseDefinition<never>> = { phases: list, initialPhase: name, computed: list }

/**
 * The phases of all conversations of a runner: text runs keep to them like live sessions. Pass the result as `phases` to `new Runner()`.
 * Throws INVALID_CONFIG if the phases cannot work.
 *
 * @example
 * const phases = conversationPhases({ initialPhase: 'verify', phases: [{ name: 'verify', instruction: 'Verify.', tools: ['verify'] }] })
 * const runner = new Runner({ appName: 'desk', agent, phases })
 */
export function conversationPhases<S = WatchedSession>(definition: PhaseDefinition<NoInfer<S>>): ConversationPhases {
  checkOptions('conversationPhases()', definition, RULES)
  return new DefinedPhases(definition)
}

/** Phases with their definition, which live sessions of the runner use, too. */
export class DefinedPhases<S> implements ConversationPhases {
  /** The phases and computed values. */
  readonly definition: PhaseDefinition<S>

  constructor({ phases, initialPhase, computed }: PhaseDefinition<S>) {
    validatePhases(phases, initialPhase)
    new StateMirror({ computed, report: () => {} }) // checks the computed values
    this.definition = { phases, initialPhase, ...(computed && { computed }) }
  }

  /** The phase of a text run. */
  start(host: PhaseHost): TextPhases<S> {
    return new TextPhases(this.definition, host)
  }
}
