// Agents without a model: they decide only who runs when.
import { anything, checkOptions, type OptionRules, type Rule, text } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import { type Agent, agents, checkAgentName, type InvocationContext, RUN_SCOPE } from './agent.ts'

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

/** Runs its sub-agents one after another; stops when one escalates or fails. */
export class SequentialAgent implements Agent {
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

/** Runs its sub-agents beside each other, each in its own branch: they do not see each other's events. */
export class ParallelAgent implements Agent {
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

/** Runs its sub-agents again and again until one escalates, fails, or `maxIterations` rounds are done. */
export class LoopAgent implements Agent {
  readonly name: string
  readonly description: string | undefined
  readonly subAgents: readonly Agent[]
  readonly maxIterations: number
  constructor(options: WorkflowAgentOptions & { readonly maxIterations: number }) {
    this.name = check('LoopAgent', options, LOOP_RULES)
    this.description = options.description
    this.subAgents = options.subAgents
    this.maxIterations = options.maxIterations
    if (!Number.isInteger(options.maxIterations) || options.maxIterations < 1) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `LoopAgent "${options.name}" needs maxIterations, a whole number above 0: a loop must end.`,
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
  throw new ToolwrightError('INVALID_CONFIG', `Agent "${name}" has no subAgents: there is nothing to run.`)
}
