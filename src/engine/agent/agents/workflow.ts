// Agents without a model. They run their sub-agents one after another, at the same time, or in a loop.
import { kindOf } from '../../../core/base/kind-of.ts'
import { showAs } from '../../../core/base/show-as.ts'
import { anything, checkOptions, type OptionRules, type Rule, text } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import { type Agent, agents, checkAgentName, type InvocationContext, RUN_SCOPE, shownAgent } from './agent.ts'

/** Options of `SequentialAgent`, `ParallelAgent` and `LoopAgent`. */
export interface WorkflowAgentOptions {
  /** Letters, digits, `_` and `-`; not `user`. Unique among sibling agents. */
  readonly name: string
  /** What the agent does, for other agents that may transfer to it. */
  readonly description?: string | undefined
  /** The agents to run. */
  readonly subAgents: readonly Agent[]
}

const RULES: OptionRules<WorkflowAgentOptions> = { name: anything, description: text, subAgents: agents }
const LOOP_RULES = { ...RULES, maxIterations: anything }

/** Runs its sub-agents one after another. Stops when one escalates or fails. */
export class SequentialAgent implements Agent {
  static {
    showAs(SequentialAgent.prototype, 'SequentialAgent', shownAgent)
  }
  readonly name: string
  readonly description: string | undefined
  readonly subAgents: readonly Agent[]
  constructor(options: WorkflowAgentOptions) {
    this.name = check('SequentialAgent', options, RULES)
    this.description = options.description
    this.subAgents = options.subAgents
  }
  run(context: InvocationContext): AsyncIterable<Event> {
    return context[RUN_SCOPE](this)
  }
}

/** Runs its sub-agents at the same time, each in its own branch. They do not see each other's events. */
export class ParallelAgent implements Agent {
  static {
    showAs(ParallelAgent.prototype, 'ParallelAgent', shownAgent)
  }
  readonly name: string
  readonly description: string | undefined
  readonly subAgents: readonly Agent[]
  constructor(options: WorkflowAgentOptions) {
    this.name = check('ParallelAgent', options, RULES)
    this.description = options.description
    this.subAgents = options.subAgents
  }
  run(context: InvocationContext): AsyncIterable<Event> {
    return context[RUN_SCOPE](this)
  }
}

/** Runs its sub-agents in rounds until one escalates or fails, or `maxIterations` rounds are done. */
export class LoopAgent implements Agent {
  static {
    showAs(LoopAgent.prototype, 'LoopAgent', shownAgent)
  }
  readonly name: string
  readonly description: string | undefined
  readonly subAgents: readonly Agent[]
  /** Most rounds. */
  readonly maxIterations: number
  constructor(options: WorkflowAgentOptions & { readonly maxIterations: number }) {
    this.name = check('LoopAgent', options, LOOP_RULES)
    this.description = options.description
    this.subAgents = options.subAgents
    this.maxIterations = options.maxIterations
    if (!Number.isInteger(options.maxIterations) || options.maxIterations < 1) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `maxIterations of LoopAgent "${options.name}" must be a whole number above 0, got ${kindOf(options.maxIterations)}. Set it to the largest number of rounds, for example 5.`,
      )
    }
  }
  run(context: InvocationContext): AsyncIterable<Event> {
    return context[RUN_SCOPE](this)
  }
}

function check(kind: string, options: WorkflowAgentOptions, rules: { readonly [option: string]: Rule }): string {
  const { name, subAgents } = options
  checkAgentName(name)
  checkOptions(`${kind} "${name}"`, options, rules)
  if (subAgents?.length > 0) return name
  throw new ToolwrightError('INVALID_CONFIG', `${kind} "${name}" has no subAgents. Add at least one agent.`)
}
