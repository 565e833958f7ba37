import type { Rule } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import type { CallbackContext } from '../../tool/context.ts'

/** How a built-in agent gets into the walk of the run it is called from. */
export const RUN_SCOPE: unique symbol = Symbol('toolwright.walk')

/** What an agent's own `run` gets. */
export interface InvocationContext extends CallbackContext {
  /** The scope this agent runs in. */
  readonly path: string
  /** What was recorded in this scope already: an agent is resumed by running it again. */
  readonly events: readonly Event[]
  readonly signal: AbortSignal
  readonly [RUN_SCOPE]: (agent: Agent) => AsyncIterable<Event>
}

/**
 * Anything that can be put in charge. Write your own by giving it a `run`: what it yields (see `createEvent`) is
 * recorded, and `child.run(context)` runs another agent inside it.
 */
export interface Agent<Output = unknown> {
  /** Unique among sibling agents; author of the agent's events. */
  readonly name: string
  /** What the agent does, for other agents that may transfer to it. */
  readonly description?: string | undefined
  /** The children of the agent. */
  readonly subAgents?: readonly Agent[] | undefined
  /** Runs the agent and yields its events. The runner calls it. */
  run(context: InvocationContext): AsyncIterable<Event>
  /** The type of the agent's answer, for the type checker only. The member does not exist at run time. */
  readonly $output?: Output
}

/** Can it be put in charge? */
export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Agent>).run === 'function'
}

export const agents: Rule = {
  expects: 'a list of agents',
  accepts: (value) => Array.isArray(value) && value.every(isAgent),
}

/** The sub-agents of any agent; of one that a developer wrote as an object, nothing has checked them before. */
export function subAgentsOf(agent: Agent): readonly Agent[] {
  const subAgents = agent.subAgents ?? []
  if (agents.accepts(subAgents)) return subAgents
  const message = `The subAgents of agent "${agent.name}" must be ${agents.expects}, each with a name and a run.`
  throw new ToolwrightError('INVALID_CONFIG', message)
}

/** Names become parts of paths, so they hold neither `/` nor `@`; `user` is the human. */
export function checkAgentName(name: unknown): void {
  if (typeof name === 'string' && name !== 'user' && /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/.test(name)) return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `"${String(name)}" cannot be an agent's name: it must start with a letter or "_", go on with letters, digits, "_" or "-", and not be "user".`,
  )
}
